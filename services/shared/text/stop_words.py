"""Words that tell nothing about what a query is after, by language: function words and question words.

Only queries drop them; documents keep every word. Forms stand here as words.py cuts them, so the clitics of French
and English (l', 's) are here as the bare letters.
"""

from services.shared.text.folding import fold_case

_LISTS = {
    "de": """
        aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei
        bin bis bist da damit dann das dass dasselbe dazu dein deine deinem deinen deiner dem den denn der derer des
        dessen die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es
        etwas euch euer eure für gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem
        ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jener jetzt kann kein keine keinem keinen keiner
        können man manche mein meine meinem meinen meiner mich mir mit muss nach nicht nichts noch nun nur ob oder ohne
        sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst um und uns unser
        unsere unter vom von vor wann war waren warum was weg weil welche welchem welchen welcher welches wenn wer wem
        wen werde werden wie wieder will wir wird wo wollen wurde wurden während würde zu zum zur zwar zwischen über
    """,
    "en": """
        a about above after again against all am an and any are as at be because been before being below between both
        but by can could d did do does doing don down during each few for from further had has have having he her here
        hers herself him himself his how i if in into is it its itself just ll m me might more most must my myself no
        nor not now of off on once only or other our ours ourselves out over own re s same shall she should so some
        such t than that the their theirs them themselves then there these they this those through to too under until
        up upon us ve very was we were what when where which while who whom whose why will with would you your yours
        yourself yourselves
    """,
    "es": """
        a al algo algunas algunos ante antes como con contra cual cuál cuales cuáles cuando cuándo cuanto cuánto cuánta
        cuántas cuántos de del desde donde dónde durante e el él ella ellas ellos en entre era eran es esa esas ese eso
        esos esta está están estas este esto estos fue fueron ha han hasta hay la las le les lo los más me mi mí mis
        mucho muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros para pero poco por porque que qué
        quien quién quienes se ser si sí sido sin sobre son su sus también tan te ti tiene tienen tu tú tus u un una
        unas uno unos y ya yo
    """,
    "fr": """
        à ai ainsi alors as au aucun aussi autre autres aux avait avec avez avons c ce ceci cela ces cet cette ceux
        chaque comme comment d dans de depuis des donc dont du elle elles en encore entre es est et étaient était été
        être eu eux fait il ils j je l la là laquelle le lequel les lesquelles lesquels leur leurs lui m ma mais me même
        mes moi mon n ne ni nos notre nous on ont ou où par pas peu peut plus pour pourquoi qu quand que quel quelle
        quelles quels qui quoi s sa sans se sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes
        très tu un une vos votre vous y
    """,
    "hi": """
        अंदर अगर अपना अपनी अपने अब आदि आप इन इनका इनकी इनके इस इसका इसकी इसके इसमें इसलिए इसी इसे उन उनका उनकी उनके उनको
        उन्हें उन्होंने उस उसका उसकी उसके उसने उसमें उसे एक एवं और कब कभी कर करता करते करना करने कहाँ कहां का काफी कि
        कितना कितनी कितने किन किया किस किसका किसकी किसके किसने किसी किसे की कुछ के कैसे को कोई कौन कौनसा कौनसी क्या क्यों
        गया गयी गई गए जब जहाँ जहां जा जाता जाती जाते जाना जिन जिस जिसका जिसकी जिसके जिसे जैसे जो तक तब तो था थी थे दिया
        दी दो द्वारा न नहीं ने पर परन्तु फिर बहुत बाद भी मगर मुझे मे में मेरा मेरी मेरे मैं यदि यह यहाँ यहां या ये रहा
        रही रहे लिए लेकिन व वह वहाँ वहां वाला वाली वाले वे सब सभी साथ से हम हमारा हमारी हमारे ही हुआ हुई हुए हूँ है हैं
        हो होता होती होते होना होने
    """,
    "it": """
        a ad agli ai al alla alle allo anche avere aveva c che chi ci come con contro cosa cui d da dagli dai dal dalla
        dalle dallo de degli dei del dell della delle dello di dopo dove e è ed era erano essere fra gli ha hanno i il
        in io l la le lei li lo loro lui ma me mi mia mio miei nei nel nell nella nelle nello noi non nostra nostro o
        ogni per perché più poco prima qual quale quali quando quanta quante quanti quanto quella quelle quelli quello
        questa queste questi questo se sei si sia sono sopra sotto stata stati stato su sua sue sugli sui sul sull sulla
        sulle suo suoi tra tu tutti tutto un una uno vi voi
    """,
    "nl": """
        aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had
        heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je kan kon kunnen maar me meer men met
        mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds s t te tegen toch toen tot u uit
        uw van veel voor waar waarom wanneer want waren was wat we wel welk welke werd werden wie wij wil word worden
        wordt ze zelf zich zij zijn zo zonder zou
    """,
    "pt": """
        a à ao aos aquela aquelas aquele aqueles aquilo as às até com como da das de dela delas dele deles depois do dos
        e é ela elas ele eles em entre era eram essa essas esse esses esta está estão estas este estes eu foi foram há
        isso isto já lhe lhes mais mas me meu meus minha muito na não nas nem no nos nós nossa nosso num numa o onde os
        ou para pela pelas pelo pelos por porque porquê qual quais quando quanta quantas quanto quantos que quê quem se
        sem ser será seu seus só sua suas também te tem têm teu tu tua um uma umas uns você vocês
    """,
    "ru": """
        а без более больше был была были было быть в вам вас во вот все всего всех всё вы где да даже для до его ее её
        ей если есть ещё еще же за здесь и из или им их к как какая какие какой какого каком какую когда кого ком кому
        которая которого которое которой котором которую которые который которых кто куда ли либо между меня мне много
        мной может можно мой моя мы на над надо нам нами нас наш не него нее неё ней нет ни нибудь них но ну о об однако
        он она они оно от очень по под после потому почему при про с сам сама себе себя сколько со так также такая такие
        такой там те тебе тебя тем то тоже только том тот ту тут ты у уже хотя чего чей чем через что чтобы чьё эта эти
        это этого этой этом этот эту я
    """,
    "tr": """
        acaba ama ancak artık aslında az bana bazı belki ben benden beni benim bir biraz biri birkaç birşey biz bize
        bizden bizi bizim bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha dahi de defa değil diye dolayı
        e en fakat gibi göre hangi hangisi hani hem henüz hep hepsi her herkes hiç için ile ise işte kaç kadar karşı
        kendi kez ki kim kime kimden kimi kimin mı mi mu mü mıdır midir mudur müdür nasıl ne neden nedir nerede nereden
        nereye nesi niçin nin nun nün nın niye o olan olarak olduğu oldu olur on ona ondan onlar onlara onların onu onun
        orada oysa öyle pek rağmen sadece sana sanki sen senden seni senin siz size sizden sizi sizin şey şu şuna şunu
        ta tarafından te tüm un ün ın in ve veya ya yani yine yoksa zaten
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(fold_case(word) for word in words.split()) for language, words in _LISTS.items()
}
