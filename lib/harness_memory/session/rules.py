"""Lasting rules in a prompt: the sentences that say how work is done from now on, in the user's own words.

A sentence is kept when its score reaches `_LEAST`: signs that it lasts, binds or generalises count for it; signs that
it belongs to this moment, asks or reports count against it. `_SIGNS` and `_shape` are the whole judgement. A sign is
a piece of the sentence in lower case, with "^" where a clause begins, and blanks around words where a language has
them. What was pasted (code, logs, quotations, plans) is not the user's word.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 12  # rules of one prompt
_LEAST = 3.0
_VETO = -5.0  # such a clause speaks for its whole sentence
_HEADED = 3.0  # for an item of a list of rules
_IN_PAGE = -1.0  # for a line of a long, structured prompt
_PAGE_LINES = 20
_LONGEST = 400  # characters of a sentence
_READ_CHARS = 8000  # of a prompt's beginning, and as many of its end

# Weight, and the signs that have it, separated by "|". A row counts once a sentence.
_SIGNS = (
    # It lasts.
    (3.5, """from now on|from here on|going forward|moving forward|henceforth|in future|at all times|ever again
        |as a rule|as a general rule|every time you|each time you|are never allowed|is never allowed|nie wieder|ab jetzt|von nun an
        |ab sofort|künftig|zukünftig|in zukunft|jedes mal|grundsätzlich|désormais|dorénavant|à partir de maintenant
        |à l'avenir|chaque fois|de ahora en adelante|a partir de ahora|en adelante|en el futuro|cada vez que|nunca más
        |a partir de agora|de agora em diante|daqui para frente|daqui em diante|toda vez que|d'ora in poi|da ora in poi
        |in futuro|ogni volta|с этого момента|отныне|впредь|в дальнейшем|на будущее|каждый раз|больше не|больше никогда
        |从现在起|从现在开始|从今以后|今后|以后|往后|每次|每当|一律|凡是|今後|これから|毎回|二度と|앞으로|이제부터|매번
        |다시는"""),
    (3.0, """^ always|^ never|don't ever|do not ever|must always|must never|please always|please never|to always
        |we should always|we should never|you should always|you should never|we always|we never|you never
        |you always need|you always have to|can you always|only ever|^ whenever|always use|never use|always run
        |never run|always ask|never do|always do|always add|never edit|always in|immer|nie|niemals|stets|toujours|jamais
        |siempre|nunca|jamás|sempre|mai|всегда|никогда|总是|永远|始终|务必|一定要|千万|絶対|必ず|常に|항상|절대|반드시
        |禁止|严禁|forbidden|verboten|interdit|prohibido|proibido|vietato|запрещено"""),
    (1.5, """always|never|whenever|every time|each time|anymore|any more|^ ever|never ever|in the future|no longer
        |generell|standardmäßig|plus de|ne crée plus"""),
    (2.0, """^ in general|^ generally|before committing|before you commit|before pushing|before you push|before each
        |before every|after each|after every|for every|for each|for all|with every|on every|when writing|when creating
        |when you create|when you add|when you finish|when you edit|when you touch|when you modify|when you fix|when you commit
        |when you make|when you implement|when you change|when you write|stop adding|stop using|stop creating|stop making
        |stop writing|without asking|unless i|unless asked|until i say|vor jedem|nach jedem|bei jeder|ohne zu fragen
        |avant chaque|avant de|sans me demander|antes de cada|sin preguntar|sin permiso|antes de hacer|antes do commit
        |sem perguntar|prima di ogni|senza chiedere|перед каждым|без спроса|без необходимости|提交前|未经|コミットする前
        |커밋하기 전"""),
    # It binds.
    (2.0, """must|mustn't|shall|required|mandatory|muss|müssen|darf|dürfen|il faut|doit|doivent|devez|debe|deben|debes
        |hay que|tiene que|tienes que|deve|devono|devem|bisogna|должен|должны|должна|нельзя|обязательно|必须|必須|不得
        |不允许|てはいけない|てはならない|ること|必要があ|해야|하면 안"""),
    (1.0, """must not|may not|not allowed|should always|should never|please|bitte|veuillez|por favor|пожалуйста|请
        |ください|세요|应该|都要|都用"""),
    (0.5, "should|shouldn't|need to|have to|has to|soll|sollen|sollte|sollten|нужно|надо|следует|需要|べき"),
    (1.5, """^ don't|^ do not|^ dont|^ avoid|^^ ^ no|^ kein|^ keine|^ ne|^ n'utilise|^ pas de|^ évite|^ evita|^ evite
        |^ não|^ non|^ не|please don't|please do not|please avoid|needs|bitte keine|bitte nicht|不要|别再|不能|不可以
        |请勿|不准|しない|するな|避け|하지 마|말아"""),
    # It is how the user wants it, or how they work.
    (3.0, """^ i prefer|we prefer|^ prefer|my preference|our convention|our policy|our style|our standard|our rule
        |the convention is|the rule is|by convention|house style|^ we use|^ we only use|^ we only support|^ we don't use
        |^ we do not use|^ we're using|^ we are using|^ we stick to|^ i like my|^ i hate|i can't stand|i'd rather you
        |^ new rule|^^ ^ rule|^^ ^ stick to|ich bevorzuge|wir bevorzugen|^ wir verwenden|^ wir benutzen|^ wir nutzen
        |je préfère|nous préférons|^ on utilise|^ nous utilisons|prefiero|preferimos|^ usamos|^ no usamos|^ utilizamos
        |prefiro|^ nós usamos|^ a gente usa|preferisco|preferiamo|^ usiamo|предпочитаю|^ мы используем|у нас принято
        |我们用|我们使用|我们不用|我更喜欢|我偏好|本项目|を好み|を使っています|우리는"""),
    (1.5, "^ we don't|^ we do not"),
    (2.0, """always remember|remember that|remember to|keep in mind|bear in mind
        |^ don't forget|claude.md|agents.md|merk dir|merke dir|denk daran|denke daran|vergiss nicht|beachte|souviens-toi
        |rappelle-toi|n'oublie pas|n'oubliez pas|retiens|garde en tête|recuerda|ten en cuenta|no olvides|lembre-se
        |não esqueça|ricorda|ricordati|non dimenticare|запомни|запомните|помни|имей в виду|не забывай|记住|记得|牢记
        |不要忘记|别忘了|覚えて|忘れないで|忘れずに|기억해|잊지"""),
    (2.5, "^ remember"),
    (2.0, "^ i don't want|in our project|in our repo|in our codebase|in our repository|throughout|across the|project-wide"),
    (1.5, "go into|go in|go at|goes in|goes into|belong in|belongs in|live in|lives in|ask me|ask first|check with me|^ fyi|just so you know"),
    (1.0, "what i ask|i ask for|asked for|i ask you"),
    (1.5, """instead of|rather than|^ not|over|statt|anstatt|^ nicht|^ keine|au lieu de|plutôt que|^ pas|en lugar de
        |en vez de|em vez de|^ não|invece di|вместо|^ а не|而不是|而非|ではなく|の代わりに|대신"""),
    (1.5, """i said|i told you|as i said|like i said|i already told|how many times|you keep|^ again ^|ich habe gesagt
        |wie gesagt|j'ai dit|je t'ai dit|te dije|he dicho|já disse|ti ho detto|я говорил|уже говорил|我说过|说过了
        |前にも言|말했"""),
    # It is general.
    (1.0, """every|each|all|any|everywhere|everything|by default|strictly|only|exactly one|unless|jede|jeder|jedes|jeden
        |jedem|alle|allen|überall|nur|chaque|tous|toutes|partout|uniquement|cada|todos|todas|ogni|tutti|tutte|каждый
        |каждого|каждой|все|всех|везде|только|所有|每个|任何|全部|统一|只能|只用|默认|すべて|全て|のみ|모든"""),
    (1.0, """^ when|^ if|^ before|^ after|^ wenn|^ bevor|^ quand|^ avant|^ cuando|antes de|^ quando|prima di|^ когда
        |^ если|перед|после|之前|之后|的时候|前に|時は|場合は|てから|전에"""),
    (1.0, "^ write|^ run|^ put|^ only|^ make sure|^ you|^ benutze|^ verwende|^ schreib|^ alle"),
    (1.5, "^ keep|^ use|^ only use"),
    (0.5, "^^ ^ every|^^ ^ each|^^ ^ all"),
    # It belongs to this moment.
    (-6.0, """option to always|way to always|option to never|must have been|must have missed|^^ ^ error ^|^^ ^ warning ^|never mind|nevermind|as always|for now|right now|this time|not yet|this once
        |for the moment|at the moment|fürs erste|vorerst|diesmal|noch nicht|im moment|pour l'instant|pour le moment
        |cette fois|pas encore|por ahora|esta vez|todavía no|de momento|por enquanto|desta vez|ainda não|per ora
        |stavolta|non ancora|questa volta|пока|на этот раз|暂时|先不|先别|这次|目前|今回は|とりあえず|まだ|일단|이번
        |아직"""),
    (-3.0, """yet|today|somehow|currently|tomorrow|yesterday|i wonder|wondering|maybe|perhaps|i guess|not sure
        |i don't see|i don't know|don't worry|don't bother|last week|last month|heute|gerade|vielleicht|glaube
        |aujourd'hui|peut-être|ahora mismo|hoy|quizás|hoje|talvez|adesso|oggi|forse|сейчас|сегодня|может быть|今天|也许
        |可能|今日|たぶん|かもしれ|오늘|아마"""),
    (-1.5, """let's|lets|can you|could you|can we|could we|now|^ just|i think|look at|take a look|mal|kannst du
        |könntest du|peux-tu|puedes|você pode|puoi|帮我|这个|这里|この|ここ|이거|이"""),
    (-1.5, """this|these|that one|the one|the same|^ first|the following|below|above|line|no need|be able to|^ fix|^ create it|^ implement it|^ add it|^ do it|only the first|diese|diesen|dieser
        |dieses|hier|ici|aquí|este archivo|aqui|questo|этот|эту|здесь"""),
    (-3.0, """^ why|^ how|^ what|^ which|^ where|^ who|^ is|^ are|^ was|^ does|^ do we|^ do you|^ did|^ should we
        |^ should i|^ can i|^ shall we|^ consider|^ warum|^ wie|^ wieso|^ soll das|^ pourquoi|^ comment|^ est-ce
        |^ por qué|^ cómo|^ perché|^ por que|^ почему|^ как|^ зачем|为什么|怎么|吗|なぜ|ですか|ますか|왜|나요"""),
    # It reports, or asks for a piece of work.
    (-3.0, """it always|it never|this always|this never|there should|they always|it still|is always|are always|is never
        |are never|was never|were never|has never|have never|have always|has always|i've never|been|happened|happens
        |fail|fails|failed|crashes|returned|seems|looks like|causes|was|were|had|did|didn't|doesn't|there is|there are
        |broken|thought|we don't have|we don't need|we don't know|schlägt|war|kaputt|cassé|падает|*ется|*ится|失败|出错
        |报错|显示|エラー|失敗|에러|실패"""),
    (-2.0, """^^ ^ add|^^ ^ fix|^^ ^ implement|^^ ^ create|^^ ^ update|^^ ^ remove|^^ ^ delete|^^ ^ rename|^^ ^ move
        |^ write a|^ write the|^ use option|^ use the|^^ ^ run the tests|^^ ^ translate|^^ ^ merge|^^ ^ show
        |^^ ^ explain|^^ ^ change|^^ ^ füge|^^ ^ lösch|^^ ^ ajoute|^^ ^ corrige|^^ ^ agrega|^^ ^ arregla|^^ ^ correggi
        |^^ ^ исправь|^^ ^ добавь|^ we need|there needs|there need|^ it has|^ it should|^ it must|修复
        |修正して|追加して"""),
    (-0.5, "^^ ^ the"),
    (-1.0, "^^ ^ it|^^ ^ he|^^ ^ they"),
    (-2.5, """^^ ^ el|^^ ^ la|^^ ^ le|^^ ^ les|^^ ^ il|^^ ^ der|^^ ^ die|^^ ^ das|^^ ^ es|^^ ^ o|^^ ^ c'est|^^ ^ ça|isso
        |^ das"""),
)  # fmt: skip
_HEADINGS = """rule|guideline|convention|constraint|principle|preference|policy|policies|standard|must|do not|don't|never|always|regeln
    |vorgaben|konvention|règles|consignes|reglas|normas|regras|regole|правила|规则|规范|约定|注意事项|ルール|規約|규칙"""
_PASTED = ("Implement the following plan", "This session is being continued", "Caveat:", "---\n", "diff --git")
_CODE = """();|){| => |==|::|</|/>|&&|//|{"|":|+++|│|├|└|⏺|⎿|ERROR|WARN"""
_STOPS = (". ", "! ", "? ", "; ", "。", "！", "？", "；", "… ")
_JOINTS = """, | - | – | — |: |，|：| but | and | so | that | aber | mais | pero | но """.split("|")
_OPENERS = """ and but so also then ok okay yes yeah btw well oh hey great thanks cool perfect alright plus und aber et mais donc
    y pero e ma и но no """
_STARTERS = """ always never don't do dont from going we you please use keep remember make whenever when if all every each only avoid no
    must in i i'd ab bitte immer nie wir on ne siempre nunca a de usa sempre non """
_DEFINITE = " the this that it them these those my your him her anything ^ "
_BINDERS = " ^ should must shall to we please you i and or but will can don't not "
_ONCE = """ are were was have had need should could can might may would will must do don't did also want just still now only already
    always never then got get """  # after "we": no habit
_NEGATED = ((["don't"], 2), (["dont"], 2), (["do", "not"], 3), (["avoid"], 1), (["we", "don't"], 3))  # steps to the object
_rows: list[tuple[float, list[str]]] = []


def stated(prompt: str) -> list[str]:
    """The rules in a prompt, each as the user put it."""
    rules = [_rule(sentence, place) for sentence, place in _sentences(prompt)]
    return [*dict.fromkeys(brief(rule, settings.ITEM_CHARS) for rule in rules if rule)][:_MOST]


def _sentences(prompt: str) -> Iterator[tuple[str, float]]:
    """What the user wrote, sentence by sentence, with what its place adds to its score."""
    if len(prompt) > 2 * _READ_CHARS:
        prompt = prompt[:_READ_CHARS] + "\n" + prompt[-_READ_CHARS:]
    lines = [] if prompt.startswith(_PASTED) else prompt.replace("’", "'").split("\n")
    place = _IN_PAGE if len(lines) > _PAGE_LINES else 0.0
    is_code = is_headed = False
    for line in lines:
        bare = line.strip()
        is_fence = bare[:3] in ("```", "~~~")
        is_code = is_code != is_fence
        if is_code or is_fence or not bare:
            continue
        if _is_heading(bare):
            is_headed = _has(bare.lower(), _HEADINGS.replace("\n    ", "").split("|"))
            continue
        is_item = bare[0] in "-*•+0123456789"
        is_headed = is_headed and is_item
        if bare[0] in "><|$%@{}[" or line[:4] == "    " or _has(bare, _CODE.split("|")):
            continue
        bare = bare.lstrip("-*•+ ").lstrip("0123456789.) ") if is_item else bare
        for stop in _STOPS:
            bare = bare.replace(stop, stop.rstrip() + "\n")
        for sentence in bare.split("\n"):
            if sentence[:1] not in ('"', "“", "«", "「"):
                yield sentence.strip(), _HEADED if is_headed else place


def _is_heading(line: str) -> bool:
    bare = line.strip("#* ")
    is_bold = line[:2] == "**" and line.rstrip(":").endswith("**")
    return len(bare) < 60 and (line[0] == "#" or is_bold or bare[-1:] in (":", "："))


def _rule(sentence: str, place: float) -> str:
    """The sentence without clauses before it that speak of this moment; "" when it is no rule."""
    while 3 < len(sentence) <= _LONGEST:
        ends = [(at, joint) for at, joint in ((sentence.find(joint), joint) for joint in _JOINTS) if at > 0]
        at, joint = min(ends, default=(0, ""))
        rest = sentence[at + len(joint) :].strip()
        head = _score(sentence[:at]) if at and len(rest) >= 8 else 0.0
        if head <= _VETO:
            break
        if head >= 0 or not _begins(rest):
            return sentence if _score(sentence) + place >= _LEAST else ""
        sentence = rest
    return ""


def _begins(clause: str) -> bool:
    """Whether a clause begins as rules do, and can stand alone."""
    words = _normal(clause)
    return not clause.isascii() or (len(words) > 2 and _is_in(words[2], _STARTERS))


def _score(text: str) -> float:
    if not _rows:
        _rows.extend((weight, [_sign(sign) for sign in signs.split("|")]) for weight, signs in _SIGNS)
    words = _normal(text)
    normal = " %s " % " ".join(words)
    return sum([weight for weight, signs in _rows if _has(normal, signs)]) + _shape(text, words)


def _sign(sign: str) -> str:
    sign = sign.strip()
    is_spaced = not any("\u3000" < char for char in sign)  # Chinese, Japanese and Korean have no blanks, or endings after words
    return sign if not is_spaced else "%s%s " % ("" if sign[:1] in "^*" else " ", sign.lstrip("*"))


def _shape(text: str, words: list[str]) -> float:
    """What signs do not show: a question, a report in the third person, a habit, an object at hand, names of code."""
    score = -4.0 if text.rstrip(" )\"'").endswith(("?", "？")) or text[:1] == "¿" else 0.0
    pairs = [*zip(words, words[1:], [*words[2:], ""])]
    for before, word, after in pairs:
        if word in ("always", "never"):
            is_third = after[-1:] == "s" and after[-2:] not in ("ss", "us") and not _is_in(before, _BINDERS)
            score -= 4.0 if is_third or (after[-2:] == "ed" and after[-3:] != "eed" and after != "allowed") else 0.0
        elif (before, word) == ("^", "we") and not _is_in(after, _ONCE):
            score += 1.5
        elif word in ("must", "should") and before[-1:] == "s":
            score += 1.0
        elif (before, word) == ("^", "stop") and after[-3:] == "ing":
            score += 3.0
    for at in [at for at, word in enumerate(words) if word == "^"]:
        steps = next((steps for no, steps in _NEGATED if words[at + 1 : at + 1 + len(no)] == no), 0)
        thing = words[at + 1 + steps : at + 2 + steps]
        if steps and thing and not _is_in(thing[0], _DEFINITE):
            score += 1.5
            break
    places = [word for word in text.split() if "()" in word or ":1" in word]
    names = [word for word in text.split() if word.isascii() and word.isalpha() and word[1:] not in (word[1:].lower(), word[1:].upper())]
    definite = sum([_is_in(word, " the this that these those it ") for word in words])
    score += 0.5 if not definite else -0.5 if definite > 1 else 0.0
    return score - 0.5 * len(places) - 0.5 * max(0, len(names) - 1)


def _has(text: str, signs: list[str]) -> bool:
    return any([sign in text for sign in signs])


def _is_in(word: str, words: str) -> bool:
    return " %s " % word in words


def _normal(text: str) -> list[str]:
    """Words in lower case, "^" where a clause begins, "^^" before all; code in backquotes is one word."""
    parts = text.lower().split("`")
    parts[1::2] = ["code"] * len(parts[1::2])
    chars = [" ^ " if char in ",;:(—–，：" else char if char.isalnum() or char in "'-_." else " " for char in "".join(parts)]
    bare = (" %s " % "".join(chars)).replace(" said ", " said ^ ").replace(" from now on ", " henceforth ").replace(" but ", " ^ ").replace(" so don't ", " ^ don't ")
    for place in ("project", "repo", "codebase", "repository"):
        bare = bare.replace(" this %s " % place, " our %s " % place)
    words = [*filter(None, [word.strip(".'") for word in bare.split()])]
    if "please" in words:
        words = [*[word for word in words if word != "please"], "please"]
    while len(words) > 1 and (words[0] == "^" or (_is_in(words[0], _OPENERS) and (words[0] != "no" or words[1] == "^"))):
        del words[0]
    return ["^^", "^", *words]
