"""What counts as standing in the evidence, and what does not."""

from __future__ import annotations

import pytest

from reread.thoughts.grounding import Evidence, grounded

PAGE = (
    "The lighthouse of Scarrow Head was lit on 3 October 1862. Its first keeper, Tobias Wrenfield, "
    "served for twenty-nine years. He never missed a night. His daughter Hester pushed the lens "
    "round by hand for nine hours in 1871. The council did not pay her for it. "
    "In 1904 the mill of Dunmore burned down and 17 barrels of oil were lost."
)
QUESTION = "What is known of the lighthouse?"


def reason(thought: str, page: str = PAGE, question: str = QUESTION) -> str:
    return grounded(thought, question, [Evidence(item=1, text=page)]).reason


@pytest.mark.parametrize(
    "thought",
    [
        "The lighthouse of Scarrow Head was lit on 3 October 1862.",
        "Scarrow Head's lighthouse was lit in October 1862.",
        "Tobias Wrenfield served as its first keeper for twenty-nine years.",
        "Tobias Wrenfield never missed a night.",
        "In 1871 Hester pushed the lens round by hand for nine hours.",
        "The council did not pay Hester for it.",
        "The lighthouse was lit in 1862. The mill of Dunmore burned down in 1904.",
    ],
)
def test_what_the_evidence_says_stands(thought: str) -> None:
    assert reason(thought) == ""


@pytest.mark.parametrize(
    "thought",
    [
        "The lighthouse of Scarrow Head was lit on 3 October 1863.",  # another number
        "The lighthouse of Dunmore was lit on 3 October 1862.",  # a name from elsewhere
        "The mill of Scarrow Head burned down in 1904.",
        "Hester served as keeper for twenty-nine years.",
        "The council did pay Hester for it.",  # the contrary
        "Tobias Wrenfield missed a night.",
        "The lighthouse was not lit on 3 October 1862.",
        "Admiral Pelham gave the lens to the parish as a gift.",  # nothing of it
        "In 1904 the lighthouse burned down and 17 barrels of oil were lost.",  # a word moved
        "The lighthouse was lit in 1862. Queen Victoria came to see it.",  # half of it
        "",
        " ".join(["The lighthouse of Scarrow Head was lit on 3 October 1862."] * 12),
    ],
)
def test_what_the_evidence_does_not_say_does_not(thought: str) -> None:
    assert reason(thought) != ""


def test_the_items_are_those_that_say_it() -> None:
    pages = [
        Evidence(item=4, text="The lamp was lit in 1862."),
        Evidence(item=7, text="The mill burned down in 1904."),
        Evidence(item=9, text="Nothing else was written down."),
    ]
    verdict = grounded("The lamp was lit in 1862. The mill burned down in 1904.", "What?", pages)
    assert verdict.items == {4, 7}


LAMP = (
    "The lamp was first lit on 3 October 1862, before a crowd that had been standing in the rain "
    "since noon."
)
KEEPER = (
    "Tobias Wrenfield kept the light for the council. He carried 40 pounds of oil up the stairs "
    "every evening, but he never asked for help. The council almost dismissed him in 1870, and "
    "nine men did not pay their share. Perhaps the old boat sank for want of tar."
)


@pytest.mark.parametrize(
    ("told", "true"),
    [
        ("standing in the rain", "standing in the snow"),
        ("standing in the rain", "kneeling in the rain"),
        ("first lit", "first stolen"),
        ("first lit", "last lit"),
        ("1862,", "1862 by an arsonist,"),
        ("before a crowd", "after a crowd"),
        ("The lamp", "The document"),
        ("since noon", "since 9 in the morning"),
        ("first lit", "first not lit"),
    ],
)
def test_one_word_that_the_evidence_does_not_say_is_one_too_many(told: str, true: str) -> None:
    assert reason(LAMP, LAMP, "When was the lamp first lit?") == ""
    invented = LAMP.replace(told, true)
    assert invented != LAMP
    assert reason(invented, LAMP, "When was the lamp first lit?") != ""


@pytest.mark.parametrize(
    "thought",
    [
        "Tobias Wrenfield carried forty pounds of oil up the stairs every evening.",
        "Every evening Tobias carries 40 pounds of oil up the stairs.",
        "The keeper carried 40 pounds of oil up the stairs.",  # "keeper" is the question's
        "According to the text, Tobias Wrenfield kept the light for the council.",
        "The document states that Tobias Wrenfield kept the light for the council.",
        "Tobias Wrenfield was said to have kept the light for the council.",
        "In the story, the council almost dismissed Tobias in 1870.",
        "Tobias never asked for help.",
        "Nine men didn't pay their share.",
        "9 men did not pay their share.",
    ],
)
def test_forms_of_a_word_framing_and_names_for_pronouns_are_the_same(thought: str) -> None:
    assert reason(thought, KEEPER, "What did the keeper carry?") == ""


@pytest.mark.parametrize(
    "thought",
    [
        "Tobias carried 40 pounds of oil up the stairs every morning.",
        "Tobias carried fifty pounds of oil up the stairs every evening.",
        "Tobias carried nine pounds of oil up the stairs every evening.",  # nine is elsewhere
        "Tobias carried 40% of the oil up the stairs every evening.",
        "Tobias carried £40 of oil up the stairs every evening.",
        "Tobias did not carry 40 pounds of oil up the stairs.",  # not is elsewhere
        "Tobias never carried 40 pounds of oil up the stairs, but asked for help.",  # moved
        "The council dismissed Tobias in 1870.",  # almost
        "Nine men paid their share.",
        "Nine men never paid their share.",  # more than not
        "The old boat sank for want of tar.",  # perhaps
        "Tobias Wrenfield kept the text for the council.",
        "It was so.  It was there.",
    ],
)
def test_another_number_a_lost_doubt_and_a_moved_denial_do_not_stand(thought: str) -> None:
    assert reason(thought, KEEPER, "What did the keeper carry?") != ""


@pytest.mark.parametrize(
    ("thought", "stands"),
    [
        ("The letter for Anna Keller was written by her uncle.", True),
        ("Her uncle sailed from Brae in 1871.", True),
        ("Her uncle wrote the letter for Anna Keller.", True),
        ("The letter was written by Anna Keller.", False),
        ("Her uncle sailed to Brae in 1871.", False),
        ("Her uncle sailed from Tolm to Brae.", False),
    ],
)
def test_what_is_for_somebody_is_not_by_them(thought: str, stands: bool) -> None:
    page = (
        "The letter was written for Anna Keller by her uncle, who sailed from Brae to Tolm in 1871."
    )
    assert (reason(thought, page, "?") == "") is stands


@pytest.mark.parametrize(
    ("thought", "stands"),
    [
        ("Hester swam ashore in the evening.", True),
        ("The crew of the ships was lost.", True),
        ("Not one of the small ships reached the quay.", True),
        ("Hester reached the harbour.", False),
        ("The small ships reached the quay.", False),
        ("The crew of the ships was not lost.", False),
    ],
)
def test_a_denial_counts_in_its_own_clause(thought: str, stands: bool) -> None:
    page = (
        "Nobody reached the harbour, but Hester swam ashore in the evening. Not one of the many "
        "small ships reached the quay, and the crew of the ships was lost."
    )
    assert (reason(thought, page, "?") == "") is stands


def test_words_of_the_question_do_not_outweigh_the_evidence() -> None:
    page = "The lamp was lit in 1862."
    assert reason("The lamp of Scarrow was lit in 1862.", page, "When was Scarrow lit?") == ""
    asked = "Did the admiral of Scarrow steal the old brass lamp in 1862?"
    assert reason("The admiral of Scarrow stole the lamp in 1862.", page, asked) != ""


# Evidence, then what it says in other forms or order, then what it does not say.
LANGUAGES = {
    "de": (
        "Die Behörde hat den Bau des Turmes genehmigt. Zwölf Arbeiter kamen nicht zurück.",
        ["Die Behörde genehmigte den Bau des Turms.", "Zwölf Arbeiter kamen nicht zurück."],
        [
            "Die Behörde hat den Bau des Turmes nicht genehmigt.",
            "Die Behörde hat den Bau des Hafens genehmigt.",
            "Zwölf Arbeiter kamen zurück.",
            "Dreizehn Arbeiter kamen nicht zurück.",
        ],
    ),
    "fr": (
        "Le conseil a approuvé la construction du phare. Les douze ouvriers ne sont pas revenus.",
        ["La construction du phare, le conseil a approuvé.", "Douze ouvriers ne sont pas revenus."],
        [
            "Le conseil n'a pas approuvé la construction du phare.",
            "Le conseil a approuvé la destruction du phare.",
            "Les douze ouvriers sont revenus.",
            "Les treize ouvriers ne sont pas revenus.",
            "Les ouvriers ne sont jamais revenus.",
        ],
    ),
    "es": (
        "El consejo aprobó la construcción del faro. Los doce obreros no volvieron nunca.",
        ["El consejo ha aprobado la construcción del faro.", "Doce obreros no volvieron nunca."],
        [
            "El consejo no aprobó la construcción del faro.",
            "El consejo aprobó la construcción del puente.",
            "Los doce obreros volvieron.",
            "Los trece obreros no volvieron nunca.",
        ],
    ),
    "it": (
        "Il consiglio ha approvato la costruzione del faro. I dodici operai non tornarono.",
        ["Il consiglio approvò la costruzione del faro.", "Dodici operai non tornarono."],
        [
            "Il consiglio non ha approvato la costruzione del faro.",
            "Il consiglio ha approvato la costruzione del ponte.",
            "I dodici operai tornarono.",
        ],
    ),
    "pt": (
        "O conselho aprovou a construção do farol. Os doze operários não voltaram.",
        ["O conselho tinha aprovado a construção do farol.", "Doze operários não voltaram."],
        [
            "O conselho não aprovou a construção do farol.",
            "O conselho aprovou a construção da ponte.",
            "Os doze operários voltaram.",
        ],
    ),
    "nl": (
        "De raad heeft de bouw van de toren goedgekeurd. De twaalf arbeiders kwamen niet terug.",
        ["De bouw van de toren heeft de raad goedgekeurd.", "Twaalf arbeiders kwamen niet terug."],
        [
            "De raad heeft de bouw van de toren niet goedgekeurd.",
            "De raad heeft de bouw van de haven goedgekeurd.",
            "De twaalf arbeiders kwamen terug.",
        ],
    ),
    "sv": (
        "Rådet har godkänt bygget av fyren. De tolv arbetarna kom inte tillbaka.",
        ["Bygget av fyren har rådet godkänt.", "Tolv arbetare kom inte tillbaka."],
        [
            "Rådet har inte godkänt bygget av fyren.",
            "Rådet har godkänt bygget av hamnen.",
            "De tolv arbetarna kom tillbaka.",
        ],
    ),
    "ru": (
        "Совет одобрил строительство маяка. Двенадцать рабочих не вернулись домой.",
        ["Строительство маяка одобрил совет.", "Двенадцать рабочих не вернулись домой."],
        [
            "Совет не одобрил строительство маяка.",
            "Совет одобрил строительство моста.",
            "Двенадцать рабочих вернулись домой.",
            "Тринадцать рабочих не вернулись домой.",
        ],
    ),
    "pl": (
        "Rada zatwierdziła budowę latarni. Dwunastu robotników nie wróciło do domu.",
        ["Budowę latarni zatwierdziła rada.", "Dwunastu robotników nie wróciło do domu."],
        [
            "Rada nie zatwierdziła budowy latarni.",
            "Rada zatwierdziła budowę mostu.",
            "Dwunastu robotników wróciło do domu.",
        ],
    ),
    "tr": (
        "Meclis fenerin yapımını onayladı. On iki işçi eve geri dönmedi.",
        ["Fenerin yapımını meclis onayladı.", "On iki işçi eve geri dönmedi."],
        [
            "Meclis fenerin yapımını onaylamadı.",
            "Meclis köprünün yapımını onayladı.",
            "On iki işçi eve geri döndü.",
            "On üç işçi eve geri dönmedi.",
        ],
    ),
    "ar": (
        "وافقت السلطات على خطة بناء المنارة. لم يرجع اثنا عشر عاملا إلى البيت.",
        ["على خطة بناء المنارة وافقت السلطات.", "لم يرجع اثنا عشر عاملا إلى البيت."],
        [
            "لم توافق السلطات على خطة بناء المنارة.",
            "وافقت السلطات على خطة بناء الجسر.",
            "يرجع اثنا عشر عاملا إلى البيت.",
        ],
    ),
    "he": (
        "המועצה אישרה את בניית המגדלור. שנים עשר פועלים לא חזרו הביתה.",
        ["את בניית המגדלור אישרה המועצה.", "שנים עשר פועלים לא חזרו הביתה."],
        [
            "המועצה לא אישרה את בניית המגדלור.",
            "המועצה אישרה את בניית הגשר.",
            "שנים עשר פועלים חזרו הביתה.",
        ],
    ),
    "hi": (
        "परिषद ने मीनार के निर्माण को मंजूरी दी। बारह मजदूर घर नहीं लौटे।",
        ["मीनार के निर्माण को परिषद ने मंजूरी दी।"],
        [
            "परिषद ने मीनार के निर्माण को मंजूरी नहीं दी।",
            "परिषद ने पुल के निर्माण को मंजूरी दी।",
            "बारह मजदूर घर लौटे।",
            "तेरह मजदूर घर नहीं लौटे।",
        ],
    ),
    "ko": (
        "의회는 등대의 건설을 승인했다. 열두 명의 노동자는 집에 돌아오지 않았다.",
        ["등대의 건설은 의회가 승인하였다.", "열두 명의 노동자가 집에 돌아오지 않았다."],
        [
            "의회는 등대의 건설을 승인하지 않았다.",
            "의회는 다리의 건설을 승인했다.",
            "열세 명의 노동자는 집에 돌아오지 않았다.",
        ],
    ),
    "th": (
        "คณะกรรมการอนุมัติการก่อสร้างประภาคารแล้ว",
        ["คณะกรรมการอนุมัติการก่อสร้างประภาคาร"],
        ["คณะกรรมการไม่อนุมัติการก่อสร้างประภาคาร", "คณะกรรมการอนุมัติการก่อสร้างโรงพยาบาล"],
    ),
    "zh": (
        "当局批准了灯塔的建造计划。那年冬天岛上住着二百一十四人。船长没有在一月离开港口。"
        "1862年冬天共有3名工人受伤。",
        [
            "灯塔的建造计划，当局批准了。",
            "岛上那年冬天住着二百一十四人。",
            "船长一月没有离开港口。",
        ],
        [
            "当局没有批准灯塔的建造计划。",
            "当局批准了医院的建造计划。",
            "那年冬天岛上住着九百一十四人。",
            "那年冬天岛上住着四百一十二人。",
            "那年冬天岛上住着四人。",
            "1862年冬天，有5名工人受伤。",
            "船长在一月离开港口。",
        ],
    ),
    "ja": (
        "議会は灯台の建設を承認した。その冬、島には二百十四人が住んでいた。船長は港を出なかった。",
        ["灯台の建設は議会が承認した。", "島にはその冬、二百十四人が住んでいた。"],
        [
            "議会は灯台の建設を承認しなかった。",
            "議会は病院の建設を承認した。",
            "その冬、島には九百十四人が住んでいた。",
            "船長は港を出た。",
        ],
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rule_holds_in_other_languages(language: str) -> None:
    page, true, invented = LANGUAGES[language]
    question = {"zh": "？", "ja": "？"}.get(language, "?")
    assert [t for t in true if reason(t, page, question)] == []
    assert [t for t in invented if not reason(t, page, question)] == []


def test_a_language_that_is_not_known_is_taken_word_by_word() -> None:
    greek = "Η λάμπα άναψε στις 3 Οκτωβρίου 1862. Ο φύλακας δεν έφυγε ποτέ από το νησί."
    assert reason("Η λάμπα άναψε στις 3 Οκτωβρίου 1862.", greek, "?") == ""
    assert reason("Η λάμπα δεν άναψε στις 3 Οκτωβρίου 1862.", greek, "?") != ""
    assert reason("Ο φύλακας έφυγε από το νησί.", greek, "?") != ""
    page = "Rådet har ikke godkendt byggeriet. Tornin rakensi vanha mestari kylään."
    assert reason("Tornin rakensi kylään vanha mestari.", page, "?") == ""
    assert reason("Tornin rakensi kylään nuori mestari.", page, "?") != ""
    assert reason("Rådet har godkendt byggeriet.", page, "?") != ""


@pytest.mark.parametrize(
    ("thought", "page", "stands"),
    [
        ("بلغ عدد السكان 214 نسمة.", "بلغ عدد السكان ٢١٤ نسمة.", True),
        ("The tower cost 1,250 crowns.", "The tower cost 1250 crowns.", True),
        ("The tower cost 1250 pounds.", "The tower cost 1250 crowns.", False),
        ("The price rose by 5 in 1870.", "The price rose by 5 % in 1870.", False),
        ("The price rose by 5% in 1870.", "The price rose by 5 % in 1870.", True),
        ("It was -5 degrees at noon.", "It was 5 degrees at noon.", False),
        ("The vitamin C was given daily.", "The vitamin D was given daily.", False),
    ],
)
def test_numbers_and_signs(thought: str, page: str, stands: bool) -> None:
    assert (reason(thought, page, "?") == "") is stands


def test_scripts_without_spaces_are_compared_by_pairs_of_characters() -> None:
    page = "灯台は一八六二年十月三日に初めて点灯された。最初の灯台守は二十九年間勤めた。"
    assert reason("灯台は一八六二年十月三日に初めて点灯された。", page, "いつ？") == ""
    assert reason("市長は新しい橋を建てさせた。", page, "いつ？") != ""
