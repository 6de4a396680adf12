"""What people said, by whom and when: captions of recordings, minutes, plain transcripts.

The text keeps the speaker at the start of each turn, because pages are read without locators; the
locators hold time and speaker, because citations show them. `captions` reads WebVTT and SubRip,
`speech` finds turns in a text that is laid out by people, for `plain` and `markdown` to use.
"""
