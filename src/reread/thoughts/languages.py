"""Words that say nothing by themselves, and words that turn what a sentence says, by language.

Data alone; `inflection` says what is made of it. A language that is not listed still works, with
its words compared as they stand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WRITTEN = "(?:[^\\W\\d_]|[\u0300-\u036f\u0900-\u0963\u0970-\u0dff])+"
WORD = re.compile(_WRITTEN)  # letters, with the vowels that Indic scripts write as marks


_ABROAD = frozenset("ikke nem ei eivät nu".split())  # "not" where no language of ours is spoken


@dataclass(frozen=True, slots=True, eq=False)  # compared as the one it is, which is quick
class Language:
    """What is known of a language.

    `free` words may be added or left out. `plain` and `strong` turn what is said; a plain one may
    stand for a strong one, not the other way round. `pointing` words stand for something named
    before. `numbers` is a pattern of spelled ones. A word's ending may be changed for another of
    the same paradigm where `least` letters are left; `before` are letters written onto a word.
    With `digits` number words are read as digits. `binding` words say what the next word has to do
    with the rest. Of a language that is not known, any word of up to `unknown` letters may turn.
    `same` are forms that no ending explains. `frames` only say that something is said.
    """

    script: str = "a-zà-ɏ"
    free: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    strong: frozenset[str] = frozenset()
    pointing: frozenset[str] = frozenset()
    numbers: re.Pattern[str] | None = None
    paradigms: tuple[tuple[str, ...], ...] = ()
    least: int = 3
    before: tuple[str, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    frames: re.Pattern[str] | None = None
    digits: bool = False
    binding: frozenset[str] = frozenset()
    unknown: int = 0

    def turns(self, word: str) -> bool:
        """Whether the word turns what is said, or makes it less than certain."""
        known = word in self.plain or word in self.strong or word in _ABROAD
        return known or len(word) <= self.unknown

    def counts(self, word: str) -> bool:
        """Whether the word is a number."""
        return bool(self.numbers and word not in self.free and self.numbers.fullmatch(word))


def _language(
    free: str,
    plain: str,
    strong: str = "",
    pointing: str = "",
    numbers: str = "",
    endings: str = "",
    *,
    script: str = "a-zà-ɏ",
    least: int = 3,
    before: str = "",
    same: str = "",
    frames: str = "",
    digits: bool = False,
    binding: str = "",
) -> Language:
    """A language from lists with spaces; lines part paradigms, "-" is no ending."""
    return Language(
        script=script,
        free=frozenset(free.split()) | frozenset(pointing.split()),
        plain=frozenset(plain.split()),
        strong=frozenset(strong.split()),
        pointing=frozenset(pointing.split()),
        numbers=re.compile(f"(?:{'|'.join(numbers.split())})+") if numbers else None,
        paradigms=tuple(
            tuple("" if e == "-" else e for e in line.split())
            for line in endings.split("/")
            if line
        ),
        least=least,
        before=tuple(before.split()),
        same=tuple(tuple(line.split()) for line in same.split("/") if line),
        frames=re.compile(frames, re.IGNORECASE) if frames else None,
        digits=digits,
        binding=frozenset(binding.split()),
    )


_IRREGULAR = (
    "become became/begin began begun/bite bit bitten/bleed bled/blow blew blown/"
    "break broke broken/breed bred/bring brought/build built/burn burned burnt/buy bought/"
    "catch caught/choose chose chosen/come came/creep crept/deal dealt/dig dug/draw drew drawn/"
    "dream dreamt/drink drank drunk/drive drove driven/eat ate eaten/fall fell fallen/feed fed/"
    "feel felt/fight fought/find found/flee fled/fling flung/fly flew flown/"
    "forget forgot forgotten/forgive forgave forgiven/freeze froze frozen/get got gotten/"
    "give gave given/go goes went gone/grow grew grown/hang hung/hear heard/hide hid hidden/"
    "hold held/keep kept/kneel knelt/know knew known/lay laid/lead led/leap leapt/learn learnt/"
    "leave left/lend lent/light lit/lose lost/make made/mean meant/meet met/pay paid/"
    "ride rode ridden/ring rang rung/rise rose risen/run ran/say said/see saw seen/seek sought/"
    "sell sold/send sent/shake shook shaken/shine shone/shoot shot/show shown/shrink shrank/"
    "sing sang sung/sink sank sunk/sit sat/sleep slept/slide slid/speak spoke spoken/spend spent/"
    "spin spun/spring sprang sprung/stand stood/steal stole stolen/stick stuck/strike struck/"
    "swear swore sworn/sweep swept/swim swam swum/swing swung/take took taken/teach taught/"
    "tear tore torn/tell told/think thought/throw threw thrown/understand understood/"
    "wake woke woken/wear wore worn/weave wove woven/weep wept/win won/wind wound/"
    "write wrote written/child children/man men/woman women/foot feet/tooth teeth/goose geese/"
    "mouse mice/wife wives/life lives/knife knives/leaf leaves/thief thieves/wolf wolves/"
    "half halves/no not"
)
_SOURCE = "text|document|passage|page|story|tale|article|author|narrator|report|account|record"

ENGLISH = _language(
    "a an the and of in on at as is are was were be been being am has have had having do does did "
    "which who whom whose that ll re ve",
    "not no",
    "never none nobody nothing neither nor without hardly scarcely barely almost nearly perhaps "
    "maybe possibly probably allegedly supposedly reportedly might unless nowhere",
    "he she it they him her them his hers its their theirs this these those there such",
    "hundred thousand million billion dozen score half twice thrice first second third fourth "
    "fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth fiftieth hundredth "
    "thousandth",
    "- s es ed ing / e es ed ing / y ies ied ying",
    same=_IRREGULAR,
    digits=True,
    binding="by for from to with against into",
    frames=rf"^(?:according to (?:the|this) (?:{_SOURCE}),?\s|in (?:the|this) (?:{_SOURCE}),\s|"
    rf"(?:the|this) (?:{_SOURCE}) (?:says|states|mentions|notes|records|reports|describes|tells|"
    r"explains|shows|said|stated|mentioned) that\s|"
    r"it (?:is|was) (?:said|stated|recorded|reported|known|noted|told|mentioned) that\s)|"
    r"(?<=\bis )(?:said|known|reported|recorded|stated) to (?=be |have )|"
    r"(?<=\bwas )(?:said|known|reported|recorded|stated) to (?=be |have )|"
    r"(?<=\bwere )(?:said|known|reported|recorded|stated) to (?=be |have )",
)

LANGUAGES = {
    "en": ENGLISH,
    "de": _language(
        "der die das den dem des ein eine einen einem einer eines und in im am an ist sind war "
        "waren wird werden wurde wurden worden hat haben hatte hatten dass als welche welcher "
        "welches sich zu zum zur da auch",
        "nicht",
        "kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder noch kaum "
        "fast beinahe vielleicht angeblich möglicherweise",
        "er sie es ihm ihn ihnen ihr ihre ihren ihrem ihrer ihres sein seine seinen seinem seiner "
        "seines dieser diese dieses diesen diesem dort",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf sech sieb zwanzig zig ßig "
        "hundert tausend einund ein und million millionen dutzend halb erste ersten erster zweite "
        "zweiten dritte dritten",
        "- e en n s es / e en em er es / en e st t te ten est et ete eten",
        frames=r"^(?:laut (?:dem )?(?:text|dokument|bericht)|dem (?:text|dokument) zufolge),?\s",
        binding="von für mit aus gegen nach",
    ),
    "fr": _language(
        "le la les un une des de du et en à au aux est sont était étaient été être fut furent a "
        "ont avait avaient eut que qui dont où l d qu",
        "ne pas",
        "jamais aucun aucune rien ni sans nul nulle presque peut-être guère",
        "il elle ils elles lui leur leurs son sa ses ce cet cette ces celui celle y",
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
        "vingt vingts trente quarante cinquante soixante cent cents mille million millions "
        "douzaine demi premier première deuxième second seconde troisième",
        "- s e es / al aux ale ales / er e es ent é ée és ées a èrent ait aient ant ai ez ons / "
        "ir it is i ie ies issait issent irent",
        frames=r"^(?:selon|d'après) (?:le|ce) (?:texte|document|récit|rapport),?\s",
        binding="par pour avec contre vers",
    ),
    "es": _language(
        "el la los las un una unos unas de del y en a al es son era eran fue fueron ser sido ha "
        "han había habían está están estaba que se lo",
        "no",
        "nunca jamás nadie nada ningún ninguno ninguna ni sin tampoco casi apenas quizá quizás",
        "él ella ellos ellas le les su sus este esta estos estas ese esa allí",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
        "dieciséis diecisiete dieciocho diecinueve veinte veinti treinta cuarenta cincuenta "
        "sesenta setenta ochenta noventa cien ciento cientos doscientos trescientos mil millón "
        "millones docena medio primer primero primera segundo segunda tercer tercero tercera",
        "- s es / ar a an ó aron ado ada ados adas aba aban ando / er e en ió ieron ido ida idos "
        "idas ía ían iendo / ir e en ió ieron ido ida idos idas ía ían",
        frames=r"^según el (?:texto|documento|relato|informe),?\s",
        binding="por para con contra hacia",
    ),
    "it": _language(
        "il lo la i gli le l un uno una di del dello della dei degli delle d e ed in nel nella "
        "nei a al alla è sono era erano fu furono essere stato stata stati state ha hanno aveva "
        "avevano che si",
        "non",
        "mai nessuno nessun nessuna niente nulla né senza quasi forse appena",
        "egli lui lei esso essa essi loro suo sua suoi sue questo questa questi queste vi ci",
        "due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
        "quindici sedici diciassette diciotto diciannove venti vent trenta trent quaranta quarant "
        "cinquanta cinquant sessanta settanta ottanta novanta cento mille mila milione milioni "
        "dozzina mezzo primo prima secondo seconda terzo terza",
        "o i / a e / e i / are a ano ò arono ato ata ati ate ava avano ando / "
        "ere e ono é erono uto uta uti ute eva evano / ire e ono ì irono ito ita iti ite iva ivano",
        frames=r"^secondo il (?:testo|documento|racconto|rapporto),?\s",
        binding="da dal dalla per con contro",
    ),
    "pt": _language(
        "o a os as um uma uns umas de do da dos das e em no na nos nas ao à é são era eram foi "
        "foram ser sido tem têm tinha tinham está estava que se",
        "não",
        "nunca jamais ninguém nada nenhum nenhuma nem sem quase talvez",
        "ele ela eles elas lhe lhes seu sua seus suas este esta estes estas esse essa isso ali",
        "dois duas três quatro cinco seis sete oito nove dez onze doze treze catorze quinze "
        "dezesseis dezessete dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta "
        "oitenta noventa cem cento duzentos trezentos mil milhão milhões dúzia meio primeiro "
        "primeira segundo segunda terceiro terceira",
        "- s es / ão ões / ar a am ou aram ado ada ados adas ava avam ando / "
        "er e em eu eram ido ida idos idas ia iam endo / ir e em iu iram ido ida idos idas ia iam",
        frames=r"^(?:segundo|de acordo com) o (?:texto|documento|relato|relatório),?\s",
        binding="por pelo pela para com contra",
    ),
    "nl": _language(
        "de het een en in op van is zijn was waren werd werden wordt worden geworden heeft hebben "
        "had hadden dat die als er te",
        "niet",
        "geen nooit niemand niets noch zonder nauwelijks bijna misschien nergens",
        "hij zij ze hem haar hen hun zijn deze dit daar",
        "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien "
        "zestien zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig "
        "tachtig negentig honderd duizend een en ën miljoen dozijn half eerste tweede derde",
        "- s e en n / en t te ten de den -",
        frames=r"^volgens (?:de|het) (?:tekst|document|verhaal|verslag)\s",
        binding="door voor met naar tegen",
    ),
    "sv": _language(
        "en ett den det de och i på är var vara varit blev blivit har hade som att",
        "inte ej icke",
        "ingen inget inga aldrig utan varken ingenting knappt nästan kanske",
        "han hon dem honom henne hans hennes dess deras sin sitt sina denna detta dessa där",
        "två tre fyra fem sex sju åtta nio tio elva tolv tretton fjorton femton sexton sjutton "
        "arton nitton tjugo trettio fyrtio femtio sextio sjuttio åttio nittio hundra tusen miljon "
        "miljoner dussin halv första andra tredje",
        "- n en et s ens ets / - ar arna / - er erna / are arna aren / a or orna an / "
        "a ar ade at ad ades / a er te t de",
        frames=r"^enligt (?:texten|dokumentet|berättelsen)\s",
        binding="av för med till från mot",
    ),
    "ru": _language(
        "и в во на что как был была было были есть быть это который которая которое которые",
        "не",
        "нет ни никто никогда ничего ничто никакой никакая никакие без нельзя почти едва возможно",
        "он она оно они его её ее их ему ей им этот эта эти там",
        "два две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать "
        "тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать "
        "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто двести "
        "триста четыреста пятьсот тысяча тысячи тысяч миллион миллиона миллионов дюжина первый "
        "первая второй третий",
        "- а у ом е ы ов ам ами ах и / а ы е у ой и ам ами ах / ь я ю ем е и ей ям ями ях / "
        "ия ии ию ией ий иям иях / ие ия ию ием ии ий / "
        "ый ая ое ые ого ой ому ую ым ом ых ыми ий / л ла ло ли ть / ен ена ено ены",
        script="а-яё",
        frames=r"^(?:согласно тексту|согласно документу|по тексту),?\s",
    ),
    "pl": _language(
        "i w we na że jest są był była było były być się który która które którzy został została "
        "zostało zostały",
        "nie",
        "nigdy nikt nic żaden żadna żadne ani bez prawie ledwo może chyba",
        "on ona ono oni one jego jej ich mu im ten ta to te tam",
        "dwa dwie dwóch trzy trzech cztery czterech pięć pięciu sześć sześciu siedem siedmiu osiem "
        "ośmiu dziewięć dziewięciu dziesięć dziesięciu jedenaście dwanaście trzynaście czternaście "
        "piętnaście szesnaście siedemnaście osiemnaście dziewiętnaście dwadzieścia trzydzieści "
        "czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt sto "
        "dwieście trzysta czterysta pięćset tysiąc tysiące tysięcy milion milionów tuzin pierwszy "
        "pierwsza drugi druga trzeci",
        "- a u owi em ie y ów om ami ach i e / a y i ę ą o ie om ami ach / "
        "y a e ego ej emu ą ym ych ymi / ł ła ło li ły ć / ny na ne no",
        frames=r"^(?:według|zgodnie z) (?:tekstu|dokumentu|tekstem|dokumentem),?\s",
    ),
    "tr": _language(
        "ve bir olan olarak idi dir dır da de ile ki",
        "değil",
        "yok hayır hiç hiçbir kimse asla hiçkimse neredeyse belki",
        "o onlar onun onu ona bu şu orada",
        "iki üç dört beş altı yedi sekiz dokuz on yirmi otuz kırk elli altmış yetmiş seksen doksan "
        "yüz bin milyon düzine yarım birinci ikinci üçüncü",
        "- lar ların ları ı i u ü ın in un ün nın nin nun nün a e ya ye da de ta te dan den tan "
        "ten nda nde sı si su sü sını sini / - ler lerin leri ı i u ü in ün nin nün e ye de te "
        "den ten",
    ),
    "ar": _language(
        "في على أن إن التي الذي الذين كان كانت هو هي قد هذا هذه ذلك",
        "لا لم ولا ولم فلا فلم",
        "لن ولن ليس ليست ليسوا وليس وليست غير بدون دون أبدا ربما",
        "",
        "اثنان اثنين ثلاثة ثلاث أربعة أربع خمسة خمس ستة ست سبعة سبع ثمانية ثماني تسعة تسع عشرة عشر "
        "عشرون عشرين ثلاثون ثلاثين أربعون أربعين خمسون خمسين ستون ستين سبعون سبعين ثمانون ثمانين "
        "تسعون تسعين مئة مائة مئتان مئتين ألف آلاف مليون نصف",
        "- ات ين ون ان / ة ت ات / - ه ها هم / - ت وا ا",
        script="ء-ي",
        before="وال بال كال فال لل ال و ف ب ل",
    ),
    "he": _language(
        "את של על היה היתה הייתה היו הוא היא הם אשר כי זה זו",
        "לא ולא שלא",
        "אין ואין שאין אינו אינה אינם בלי ללא מעולם לעולם כמעט אולי",
        "",
        "שני שתי שניים שתיים שלושה שלוש ארבעה ארבע חמישה חמש שישה שש שבעה שבע שמונה תשעה תשע עשרה "
        "עשר עשרים שלושים ארבעים חמישים שישים שבעים שמונים תשעים מאה מאתיים אלף אלפים מיליון חצי",
        "- ים / ה ות ת / - ה ו",
        script="א-ת",
        least=2,
        before="וה שה וב ול ה ו ב ל מ ש כ",
    ),
    "hi": _language(
        "का की के को में ने है हैं था थी थे और कि यह वह जो एक पर",
        "नहीं न",
        "मत ना बिना लगभग शायद",
        "वे उस उसे उसका उसकी उसके उन उनका उनकी उनके इस",
        "दो तीन चार पाँच पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस "
        "बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे सौ हज़ार हजार लाख करोड़ आधा",
        "- ों ें / ा े ों / ी ियों ियाँ",
        script="\u0900-\u097f",
        least=2,
    ),
    "ko": _language(
        "그리고 및 있다 있었다 이다 이었다 였다",
        "안 않다 않았다 않는다 않은 않는 않고 않아 않았고 않았으며",
        "못 못했다 없다 없었다 없는 없이 없고 아니다 아니었다 아닌 아니라 거의 아마",
        "그 그는 그가 그의 그녀 그녀는 그녀가 그녀의 이 그들 그들은",
        "하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 스물 서른 마흔 쉰 예순 일흔 여든 아흔 백 천 만 "
        "억 두 세 네 삼 사 오 육 칠 팔 구 십",
        "- 은 는 이 가 을 를 의 에 에서 에게 로 으로 와 과 / 했다 하였다 한다 하는 한 하고 하여 "
        "했던 하다 했으며 했고",
        script="가-힣",
        least=1,
    ),
}
# Where nothing parts words: characters that may be added, and what turns a sentence.
FREE_CHARACTERS = frozenset(
    "的了是在于於着著过過地得之而和与與其曾はがのをにでとただしさせれるてい"
)
TURNING = re.compile("[没沒不未无無非别別勿否]|ない|なかっ|なく|なけ|ません|ずに|ไม่|มิได้|ไร้")
NUMERALS = "〇零一二三四五六七八九十百千万萬亿億兆两兩廿卅"
SYLLABIC = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # a word has more characters

CLAUSE = re.compile(
    r"[,;:](?=\s)|[()]|\s[-–]\s|[—、，；：،؛。]|"
    r"\b(?:but|aber|sondern|mais|pero|sino|maar|ma|men|но|а|ale|lecz|ama|fakat|لكن|אבל|אלא|लेकिन)\b"
    r"|但是?|却|하지만|그러나|しかし",
    re.IGNORECASE,
)
