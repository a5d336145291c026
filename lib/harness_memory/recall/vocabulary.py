"""English word lists: stop words, words that frame a request, irregular forms."""

from __future__ import annotations

_STOP = (
    "a about above after again all also am an and any are arent as at be because been before being below"
    " between both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during each few"
    " for from further get got had hadnt has hasnt have havent having he hed her here heres hers herself hes him"
    " himself his how hows i if im in into is isnt it its itself ive just lets like me more most my myself no"
    " nor not now of off on once only or other our ours ourselves out over own please same shall she shes should"
    " so some such than that thats the their theirs them themselves then there theres these they theyd theyll"
    " theyre theyve this those through to too under until up us very was wasnt we were werent weve what whats"
    " when whens where wheres which while who whom whos why whys will with wont would wouldnt you youd youll"
    " your youre yours yourself youve"
)

# Stems that say how something is asked, not what it is about.
_FRAMING = (
    "advic ago amount back chat convers current dai date differ discuss first go help idea kind know last long"
    " make mani mention might month much name need new number often on plan previou previous recent recommend"
    " rememb remind sai specif suggest take talk tell thing think time tip todai total try two type us wai want"
    " week year yesterdai"
)

_IRREGULAR = (
    "ate:eat became:become began:begin begun:begin bent:bend bought:buy broke:break broken:break brought:bring"
    " built:build burnt:burn came:come caught:catch children:child chose:choose chosen:choose dealt:deal"
    " drank:drink drawn:draw drew:draw driven:drive drove:drive drunk:drink eaten:eat fallen:fall fed:feed"
    " feet:foot fell:fall felt:feel flew:fly flown:fly forgot:forget forgotten:forget fought:fight found:find"
    " froze:freeze frozen:freeze gave:give given:give gone:go gotten:get grew:grow grown:grow heard:hear"
    " held:hold hid:hide hidden:hide hung:hang kept:keep knew:know known:know laid:lay lain:lie leant:lean"
    " learnt:learn led:lead left:leave lent:lend lost:lose made:make meant:mean men:man met:meet mice:mouse"
    " paid:pay people:person ran:run ridden:ride risen:rise rode:ride rose:rise said:say sang:sing sat:sit"
    " saw:see seen:see sent:send shook:shake shot:shoot shown:show shrank:shrink slept:sleep sold:sell"
    " sought:seek spent:spend spoke:speak spoken:speak spun:spin stole:steal stolen:steal stood:stand"
    " struck:strike stuck:stick sung:sing swam:swim swept:sweep swore:swear taken:take taught:teach teeth:tooth"
    " thought:think threw:throw thrown:throw told:tell took:take tore:tear torn:tear understood:understand"
    " went:go wives:wife woke:wake women:woman won:win wore:wear worn:wear wound:wind written:write wrote:write"
)

STOP = frozenset(_STOP.split())
FRAMING = frozenset(_FRAMING.split())
IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR.split())
