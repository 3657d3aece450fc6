"""Which query finds which document, script by script: the keyword leg as a reader of each language expects it."""

import pytest

from services.shared.text.analyzer import analyze_document, analyze_query


def meets(query: str, document: str, locale: str) -> bool:
    return not set(analyze_query(query, locale)).isdisjoint(analyze_document(document, locale))


FINDS = {
    "en": [
        ("running", "she runs"), ("cafe", "café"), ("résumé", "resume"), ("naïve", "a naive view"),
        ("email", "by e-mail"), ("e-mail", "two emails"), ("USA", "the U.S.A. today"), ("1000", "1,000 people"),
        ("don't", "don’t"), ("Brien", "O’Brien"), ("file", "ﬁle"), ("ABC12", "ＡＢＣ１２"), ("H2O", "H₂O"),
        ("x2", "x²"), ("strange", "ſtrange"), ("viii", "Ⅷ"), ("kelvin", "K\u2060elvin"), ("first", "\ufeffFirst"),
        ("list", "a price\n\ufefflist"), ("cooperate", "co\u00adoperate"), ("zerowidth", "zero\u200bwidth"),
        ("alpha", r"$\alpha_{ij}$"), ("x_1", "$x_1$"), ("10:30", "at 10:30."), ("v2", "v2.1"),
        ("α-synuclein", "α‑synuclein"),
        ("fine", "🙂fine👩‍👩‍👧"), ("cafÃ©", "mojibake: cafÃ©"),
    ],
    "tr": [
        ("kitap", "kitapları"), ("İSTANBUL", "istanbul'da"), ("istanbul", "İSTANBUL"), ("ışık", "IŞIK"),
        ("inş", "İnş"), ("inş", "i\u0307nş"), ("Türkiye", "Türkiye’nin"), ("evler", "evlerde"), ("hala", "hâlâ"),
        ("cagri", "çağrı"), ("çağrı", "c\u0327ag\u0306rı"),
    ],
    "hi": [
        ("हिन्दी", "हिंदी में"), ("लड़का", "लड़के"), ("लड\u093cका", "ल\u095cका"), ("किताब", "किताबें"), ("२०२१", "सन 2021"),
        ("विकिपीडिया", "विकिपीडिया।"), ("क्या", "क्\u200dया"), ("चांद", "चाँद"), ("ai", "AI का"),
    ],
    "mr": [("मराठी", "मराठी भाषा"), ("अंक", "अङ्क")],
    "ne": [("नेपाल", "नेपालको")],
    "zh": [
        ("故乡", "低头思故乡"), ("明月", "床前明月光"), ("月", "床前明月光"), ("刘捷", "市委书记刘捷"),
        ("2021", "２０２１年"), ("AI", "人工智能AI技术"), ("技术", "人工智能AI技术"),
    ],
    "ja": [
        ("東京", "東京都"), ("パーティー", "パーティーへ行く"), ("カタカナ", "ｶﾀｶﾅ"), ("がく", "か\u3099く"),
        ("コンピュータ", "コンピューター"), ("食べる", "食べました"), ("行く", "学校に行く"), ("人々", "人々は"),
    ],
    "th": [
        ("กิน", "ฉันกินข้าว"), ("ประเทศไทย", "ในประเทศไทย"), ("น้ำ", "น\u0e49\u0e4d\u0e32"), ("น้ำ", "น\u0e4d\u0e49\u0e32"),
        ("แมว", "\u0e40\u0e40มว"), ("๒๕๖๔", "ปี 2564"),
    ],
    "lo": [("ລາວ", "ປະເທດລາວ")],
    "km": [("ខ្មែរ", "ភាសាខ្មែរ")],
    "my": [("မြန်မာ", "မြန်မာနိုင်ငံ")],
    "bo": [("བོད", "བོད་ཡིག")],
    "ko": [("서울", "서울에서"), ("한국어", "한국어를"),
           ("한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165")],
    "ar": [
        ("كتاب", "الكتاب"), ("الكتاب", "والكتاب"), ("كتاب", "بالكتاب"), ("مدرسة", "للمدرسة"), ("كتاب", "كِتَاب"),
        ("كتاب", "كتـــاب"), ("كتاب", "ﻛﺘﺎﺏ"), ("احمد", "أحمد"), ("اسلام", "إسلام"), ("أحمد", "ا\u0654حمد"),
        ("مدرسة", "مدرسه"), ("المدرسة", "المدرسه"), ("مستشفى", "مستشفي"), ("قران", "قرآن"), ("مسلمون", "مسلمين"),
        ("٢٠٢١", "عام 2021"), ("كتاب", "کتاب"),
    ],
    "fa": [
        ("کتاب", "كتاب"), ("ایران", "ايران"), ("می‌روم", "می روم"), ("می‌روم", "میروم"), ("می روم", "می‌روم"),
        ("کتاب", "کتاب‌ها"), ("کتاب‌ها", "کتابها"), ("کتاب", "کتاب‌های"), ("خانه", "خانه‌ای"), ("خانه", "خانهٔ"),
        ("۱۴۰۰", "سال 1400"),
    ],
    "ur": [("کتاب", "كتاب ہے۔"), ("ہے", "یہ ہے۔")],
    "he": [
        ("שלום", "שָׁלוֹם"), ("ספר", "הספר"), ("הספר", "ספר"), ("בית", "ובבית"), ("ילד", "וילד"), ("מלכים", "המלכים"),
        ("צה״ל", 'צה"ל'),
    ],
    "de": [
        ("Straße", "STRASSE"), ("Müller", "Mueller"), ("schoen", "schön"), ("Haus", "Häuser"), ("Buch", "Bücher"),
        ("Fussball", "Fußball"), ("Arzt", "Ärzte"), ("Züge", "Zuege"), ("Über", "U\u0308ber"), ("Strasse", "STRAẞE"),
    ],
    "ru": [
        ("елка", "ёлка"), ("ёлка", "е\u0308лки"), ("лошадь", "лошадями"), ("Москва", "в Москве"),
        ("королева", "короле\u0301ва"), ("йод", "и\u0306од"),
    ],
    "uk": [("їжак", "і\u0308жак")],
    "el": [("Αθήνα", "ΑΘΗΝΑ"), ("αθηνα", "Αθήνα"), ("οδος", "ΟΔΌΣ"), ("οδός", "οδού")],
    "vi": [("học", "ho\u0323c"), ("Việt Nam", "VIỆT NAM"), ("viet nam", "Việt Nam"), ("hoà", "hòa"),
           ("duong", "đường")],
    "fr": [
        ("oeuvre", "œuvre"), ("eleve", "élève"), ("ÉTÉ", "l’été"), ("eau", "l'eau"), ("livre", "livres"),
        ("aujourd'hui", "aujourd’hui"), ("naif", "naïf"),
    ],
    "es": [("cancion", "canción"), ("canción", "canciones"), ("nino", "niño")],
    "pt": [("acao", "ação")],
    "it": [("perche", "perché")],
    "pl": [("lodz", "Łódź")],
    "cs": [("prilis", "příliš")],
    "ro": [("și", "şi")],
    "bn": [("বই", "বই।"), ("য়", "য\u09bc"), ("১২", "12")],
    "ta": [("தமிழ்", "தமிழில்"), ("பள்ளி", "பள்ளிகள்")],
    "hy": [("Հայաստան", "Հայաստանի")],
    "ka": [("საქართველო", "ᲡᲐᲥᲐᲠᲗᲕᲔᲚᲝ")],
    "am": [("ሰላም", "ሰላም።")],
    "": [("ﷺ", "صلى الله عليه وسلم"), ("cafe", "café")],
}  # fmt: skip

FINDS_NOT = {
    "en": [
        ("C", "C++"), ("C#", "C++"), ("C++", "C"), ("1-1", "2-12"), ("toil", "tool"),
        ("cat", "concatenate"), ("NET", "network"), ("12", "112"), ("universe", "a diverse set"), ("🙂", "🙂"),
        ("&", "R&D"), ("AND", "OR NOT"), ("a:b", "c:d"), ("*", "any*thing"),
    ],
    "tr": [("ışık", "aşık"), ("kitap", "kitle"), ("el", "elma")],
    "hi": [("कु", "क"), ("कि", "की"), ("हिन्दी", "हिरन")],
    "zh": [("故乡", "床前明月光"), ("明月", "光阴")],
    "ja": [("パン", "ハム"), ("東京", "大阪")],
    "th": [("กิน", "นอน"), ("มา", "แม")],
    "ko": [("서울", "부산에서")],
    "ar": [("كتاب", "كلب"), ("قلم", "علم")],
    "fa": [("کتاب", "کباب")],
    "he": [("ספר", "ספה"), ("מלך", "הלך")],
    "de": [("Haus", "Maus"), ("Hut", "Hote")],
    "ru": [("йод", "иод"), ("кот", "ток")],
    "el": [("νόμος", "δρόμος")],
    "vi": [("mèo", "chó")],
    "fr": [("mer", "amer")],
    "bn": [("বই", "বন")],
    "ta": [("மரம்", "மனம்")],
}  # fmt: skip


def rows(table: dict[str, list[tuple[str, str]]]) -> list[tuple[str, str, str]]:
    return [(locale, query, document) for locale, pairs in table.items() for query, document in pairs]


@pytest.mark.parametrize(("locale", "query", "document"), rows(FINDS))
def test_the_query_finds_the_document(locale: str, query: str, document: str) -> None:
    assert meets(query, document, locale)


@pytest.mark.parametrize(("locale", "query", "document"), rows(FINDS_NOT))
def test_the_query_does_not_find_the_document(locale: str, query: str, document: str) -> None:
    assert not meets(query, document, locale)
