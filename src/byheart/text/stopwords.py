"""Function words of twenty languages: what a query is not about, and what gives a language away.

The lists are closed classes only (articles, pronouns, prepositions, conjunctions, auxiliaries, particles). Common nouns
and verbs, which many published lists hold, stay searchable: in a memory `work`, `home` or `system` may be the point.
"""

from functools import cache
from types import MappingProxyType

from byheart.text.normal import folded, normalised

_LISTS = MappingProxyType(
    {
        "english": """
            a about above after again against all also although am among an and any are arent around as at
            be because been before being below between both but by can cannot cant could couldnt did didnt
            do does doesnt doing dont down during each either etc for from further had hadnt has hasnt have
            havent having he hed hell her here hers herself hes him himself his how however i id if ill im
            in into is isnt it itd itll its itself ive just lets me might mightnt more most must mustnt my
            myself neither nor not of off on once only onto or other ought our ours ourselves out over own
            rather same shall shant she shed shes should shouldnt since so some such than that thatll thats
            the their theirs them themselves then there theres these they theyd theyll theyre theyve this
            those though through thus to too under until up upon us very was wasnt we wed well were werent
            weve what whats when where whether which while who whom whos whose why will with within without
            wont would wouldnt yet you youd youll your youre yours yourself yourselves youve http https www""",
        "spanish": """
            a al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos
            aquí así aunque cada como cómo con contra cual cuál cuales cuando cuándo de del desde donde
            dónde dos durante e el él ella ellas ellos en entre era eran eres es esa esas ese eso esos esta
            está están estas este esto estos estoy estaba estamos fue fueron ha había han has hasta hay he
            la las le les lo los más me mi mí mis mientras mucho muy nada ni no nos nosotros nuestra nuestro
            nuestras nuestros o os otra otro otros para pero poco por porque pues que qué quien quién se sea
            según ser si sí sin sino sobre sois somos son soy su sus también tan tanto te tengo tiene tienen
            ti todo todos tu tú tus un una unas uno unos usted ustedes vosotros y ya yo""",
        "french": """
            à ai ainsi alors après as au aucun aussi autre autres aux avait avant avec avez avoir avons ça
            car ce ceci cela celle celles celui ces cet cette ceux chaque chez comme comment dans de depuis
            des donc dont du elle elles en encore entre es est et étaient était étais êtes être eu eux fait
            il ils je jusque la le les leur leurs lors lui ma mais me même mes moi mon ne ni nos notre nous
            on ont ou où par parce pas pendant peu peut plus pour pourquoi puis qu quand que quel quelle
            quelles quels qui quoi sa sans se sera ses si sont sous suis sur ta te tes toi ton tous tout
            toute toutes très tu un une vers vos votre vous y""",
        "german": """
            aber alle allem allen aller alles als also am an andere anderen auch auf aus bei bin bis bist da
            damit dann das dass daß dein deine dem den denn der des dich die dies diese diesem diesen dieser
            dieses dir doch dort du durch ein eine einem einen einer eines er es euch euer für gegen habe
            haben hast hat hatte hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist
            jede jeder jedes jetzt kann kein keine keinen können könnte man mehr mein meine meinem meinen
            meiner mich mir mit muss nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine
            seinem seinen seiner seit sich sie sind so soll über um und uns unser unsere unter vom von vor
            während war waren warum was weil welche welcher welches wenn wer werde werden wie wir wird wo
            wurde würde zu zum zur zwischen""",
        "italian": """
            a abbiamo ad agli ai al alla alle allo anche ancora avere avete aveva che chi ci come con contro
            cosa così cui da dagli dai dal dalla dalle degli dei del dell della delle dello di dopo dove e è
            ed era erano essere fra gli ha hai hanno ho i il in io la le lei li lo loro lui ma me mi mia mie
            miei mio molto ne negli nei nel nella nelle noi non nostra nostro o ogni perché più poi qual
            quale quando quanto quella quelle quelli quello questa queste questi questo qui se sei senza si
            siamo sia siete sono sopra sotto su sua sue sugli sui sul sulla sulle suo suoi ti tra tu tua tue
            tuo tuoi tutti tutto un una uno vi voi""",
        "portuguese": """
            a ao aos aquela aquele aquilo as às até com como contra da das de dela dele deles depois do dos
            e é ela elas ele eles em entre era eram essa esse esses esta está estão estas este estes estou
            eu foi foram há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na não nas
            nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque qual
            quando quanto que quem são se seja sem ser seu seus só sobre somos sou sua suas também te tem
            têm tenho ter teu tinha tua tudo um uma umas uns você vocês vos""",
        "dutch": """
            aan al alle als ben bent bij daar dan dat de der deze die dit doch doen door dus een en er ge
            geen had hadden heb hebben heeft hem het hier hij hoe hun ik in is ja je jij jullie kan kunnen
            maar meer met mij mijn moet na naar niet niets nog nu of om omdat onder ons onze ook op over te
            tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we welke werd
            wezen wie wij wil worden wordt zal ze zich zij zijn zo zonder zou""",
        "swedish": """
            alla allt att av blev bli blir de dem den denna deras dess det detta dig din dina ditt du där då
            efter ej eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke
            ingen inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon
            något några och om oss på samma sedan sig sin sina sitt ska skulle som så till under upp ut utan
            vad var vara varför varit vart vem vi vid vilka vilken än är åt över""",
        "danish": """
            af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dit du
            efter eller en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvem
            hvis hvor hvordan hvorfor i ikke ind jeg jer jo kan kunne man mange med meget men mig min mine
            mit mod må ned nu når og også om op os over på selv sig sin sine skal skulle som sådan til ud
            under var vi vil ville være været""",
        "norwegian": """
            alle at av bare begge ble bli blir da de deg dem den denne der deres det dette din disse ditt du
            eg ein eit eller en er et etter for fordi fra før ha hadde han hans har henne hennes her hun hva
            hvem hver hvis hvor hvordan hvorfor i ikke inn jeg kan kunne man mange med meg mellom men mer
            min mitt mot mye må nei noe noen nå når og også om opp oss over på så selv seg sin sine skal
            skulle som til ut uten var vi vil ville være vært vår""",
        "finnish": """
            ei eivät emme en että he heidän heille hän hänelle hänen hänet ja joka jos jotka kanssa kuin kun
            kuka me mikä minkä minua minulla minulle minun minut minä missä miten mitä mukaan mutta myös ne
            niiden niin niitä noin nuo nyt ole olen olet oli olivat olla on ovat se sekä sen siellä sillä
            sinun sinut sinä sitä tai te tämä tämän tätä tuo vaan vai vain vaikka ettei""",
        "polish": """
            a aby ale ani bardzo bez bo by być był była było były ci cię co czy dla do gdy gdzie go i ich
            ile im ja jak jako je jego jej jest jestem jeszcze już każdy kiedy kto która które który ku lub
            ma mi mnie moja moje mój może na nad nam nas nasz nic nie nim niż o od on ona one oni ono oraz
            po pod przed przez przy są się ta tak także tam te tego tej ten to tu twoja twój ty tych tylko
            tym u w was we wszystko z za ze że""",
        "turkish": """
            acaba ama ancak bana bazı belki ben beni benim bir biri biz bize bizim bu bunu bunun çok çünkü
            da daha de değil diye en gibi hem hep hepsi her hiç için ile ise kim ki mı mi mu mü nasıl ne
            neden nerede o olan olarak oldu olduğu on ona onlar onun sana sanki sen senin siz sizin şey şu
            tüm var ve veya ya yok""",
        "romanian": """
            acea acest această aceste acești ai al ale am ar are as asta au avea că ca care ce cel cele cine
            cu cum când de deci din după ea ei el ele era este eu fi fie fost în îi îl împreună iar îmi la
            le lor lui mai mea mei meu mult ne nici noi nostru nu o ori pe pentru prin sa să sale sau se și
            sunt sus ta te toate tu un una unde unei unui va voi vor vă""",
        "hungarian": """
            a az abban ahhoz ahogy aki alatt amely ami annak arra azért azt azzal be csak de ebben egy egyik
            el előtt én engem ennek erre és ez ezek ezt fel ha hanem hogy hol hogyan így ilyen is itt jó ki
            kell le lehet lesz ő ők már meg mellett mert mi miért mikor milyen mint mit most nagyon nekem
            nem nincs olyan ott össze pedig s sem te ti utána vagy van vannak vele volt voltak""",
        "czech": """
            a aby ale ani až bez bude budou by byl byla byli bylo být co což do ho i já jak jako je jeho
            jejich její jen ještě jí jsem jsi jsme jsou k kam kde kdo kdy když která které který kteří ku má
            mám mě mezi mi mít mně mnou může my na nad nám nás náš ne nebo není o od on ona oni ono pak po
            pod podle pokud pro proč proto před při s se si ta tak také tam te tedy ten tento to toho tím tu
            tuto ty u v ve však vy z za ze že""",
        "catalan": """
            a al als amb aquell aquella aquest aquesta aquests com d de del dels des doncs el ella elles
            ells els em en entre era és ets eren estan està et fins ha han hi ho i jo l la les li llavors lo
            m meu meva més molt mentre ni no nosaltres o on os per però perquè què quan que qui se sense ser
            seu seva si sobre soc són t també teu teva tot tots tu un una unes uns va van vosaltres""",
        "indonesian": """
            ada adalah agar akan aku anda antara apa apakah atau bagi bahwa banyak belum bisa bukan dalam
            dan dapat dari dengan di dia harus hanya ia ini itu jika juga kami kamu karena ke kepada ketika
            kita lagi lebih maka masih mereka namun oleh pada para saat saya sebagai secara sedang sehingga
            seperti sudah tapi telah tetapi tidak untuk yang""",
        "russian": """
            а без более бы был была были было быть в вам вас ваш вас все всё всего всех вы где да даже для
            до его ее её ей если есть еще ещё же за здесь и из или им их к как какая какой ко когда кто ли
            лишь меня мне мной моё мой моя мои мы на над надо нам нас наш наша не него нее неё нет ни ним
            них но ну о об однако он она они оно от очень по под после потому при про с со свой своя себе
            себя так также такой там тебе тебя то тоже только тот ту ты у уже хотя чего чей чем что чтобы
            эта эти это этот этого этой я""",
        "greek": """
            αλλά αν αντί από αυτά αυτές αυτή αυτό αυτοί αυτός για γιατί δεν δε εάν εγώ εδώ εκεί εκείνος
            είμαι είναι είσαι εμείς ένα ένας επειδή εσείς εσύ έχει έχω έχουν η ή ήταν θα και κάθε κατά κι μα
            με μέχρι μετά μη μην μια μία μου μας να ο οι όμως όπως όταν ότι όχι παρά περί πιο που πού πολύ
            προς πριν πως πώς σαν σας σε στα στη στην στις στο στον στους τα τη την της τι τις το τον του
            τους των τότε χωρίς ως""",
        "arabic": """
            أن إن أو أي أين أنا أنت إلى التي الذي الذين اللذان اللواتي ال إذا إذ ألا أما إلا بعد بل بين تلك
            تكون ثم حتى حيث خلال ذلك سوف عن عند عندما على عليه عليها غير في فيه فيها قبل قد كان كانت كل كما
            كيف كي لا لدى لكن لم لماذا لن له لها ليس ليست ما ماذا متى مع معه من منذ منه منها نحن هذا هذه هل
            هم هنا هناك هو هي و يا يكون""",
        "hindi": """
            अपना अपनी अपने आप इन इस इसका इसकी इसके इसमें इसी इसे उन उनका उनकी उनके उनको उन्हें उस उसका उसकी
            उसके उसी उसे एक ऐसे और कब कर करता करती करते करना करने कहाँ कहां का कि किस किसी किसे की कुछ के को
            कोई कौन क्या क्यों गया गई गए जब जहाँ जा जिस जिसे जैसे जो तक तब तुम तुम्हारा तू तो था थी थे न
            नहीं ना ने पर फिर बहुत भी मगर मुझे में मेरा मेरी मेरे मैं यदि यह यहाँ या ये रहा रही रहे लिए
            लेकिन व वह वहाँ वाला वाले वे सकता सकते सब सभी से ही हम हमारा हुआ हुई हुए हूँ हूं है हैं हो होता
            होती होते होना""",
    }
)

_PARTICLES = """
    的 了 吗 嗎 呢 吧 啊 着 和 也 就 都 与 與 及 而 是 です ます まし した して てい いる いた ある この その
    あの から まで ため など こと もの より だけ でも には では とは へは これ それ だっ った する しま ませ せん 이
    그 저 것 수 및 등 더 또"""
#: Particles and endings of the unspaced scripts, as the analyzer cuts them: they join words and name nothing.
UNSPACED_STOPS = frozenset(_PARTICLES.split())


def stop_languages() -> tuple[str, ...]:
    """The Snowball names of the languages that have a list; English comes first."""
    return tuple(_LISTS)


@cache
def stop_words(language: str) -> frozenset[str]:
    """The function words of a language as `normalised` writes them, with and without their accents.

    Args:
        language: a Snowball name such as `german`; the empty set for one that has no list.
    """
    words = {normalised(word) for word in _LISTS.get(language, "").split()}
    return frozenset(words | {folded(word) for word in words})
