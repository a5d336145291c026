"""Words that tell what a sentence does, by class, in the languages that people work in.

Structure decides more than words (see `digest`): these lists are short, and hold common words, not phrases.
"""

from __future__ import annotations

_CLASSES = {
    "not": """not never no none without nor cannot cant wont dont doesnt didnt isnt arent wasnt werent hasnt havent
        hadnt couldnt wouldnt shouldnt unable nothing nicht kein keine keinen nie ohne nichts pas jamais aucun sans
        rien nunca sin ningún nada não nem sem nenhum non mai senza nessuno niet geen nooit zonder не нет без никогда
        ни""",
    "zero": "no none nothing without keine kein ohne aucun sans sin ningún sem nenhum geen нет без",
    "i": "i ive id ich je ik я eu yo io",
    "blocked": """blocked blocker blockers blocking waiting awaiting blockiert wartet bloqué bloqueado bloccato
        geblokkeerd заблокировано""",
    "yet": "yet still noch encore aún todavía ainda ancora nog ещё еще пока",
    "you": """you your yours yourself youd youll du dir dich dein deine euch ihr sie ihnen vous votre vos tu toi te
        usted ustedes tú tus você vocês seu sua voi tuo tua lei jij je jouw jullie вы вам вас ваш ваша ты тебе""",
    "me": "me i ill id im ive shall ich mir je moi yo eu io ik я мне",
    "must": """should need needs needed must require requires required ought sollte sollten muss müssen müsste nötig
        braucht devrait devraient doit doivent faut nécessaire debe deben debería deve devem precisa preciso dovrebbe
        bisogna serve moet moeten nodig нужно надо следует должен должна необходимо""",
    "may": """could would can might may will want wants like prefer let lets könnte könnten kann würde wird möchtest
        soll pourrait peut veux voulez souhaitez podría puede quieres deseas poderia pode quer potrebbe può vuoi zou
        kan wil можно может хотите хочешь""",
    "later": """later todo todos followup follow followups next remaining remains remain pending outstanding future
        deferred postponed skipped skip skipping separate separately ticket tickets backlog upcoming open unresolved
        untested unverified blocked blocker blockers blocking waiting awaiting await manual manually leftover
        leftovers left unfinished incomplete missing question questions fragen preguntas perguntas domande vragen
        вопросы caveat caveats limitation limitations known risk später offen offene offener ausstehend übrig
        verbleibend verbleibt fehlt fehlen nächste nächster nächsten manuell reste restent restant restants prochaine
        prochaines prochain manque suivante suivantes manuellement pendiente pendientes falta faltan queda quedan
        siguiente siguientes próximo próximos próximas pendente pendentes resta restam faltando prossimo prossimi
        prossima manca mancano rimane rimangono resterend volgende openstaand handmatig осталось остаётся остается
        позже следующий следующие вручную осталась fare afaire""",
    "ready": """ready whenever unless until once upon confirm approve decide choose pick review approval decision
        sobald bereit falls wenn lorsque dès prêt cuando listo quando pronto pronta zodra klaar когда если готов
        готово""",
    "do": """run rerun add create set install restart reload check test verify try update review merge push deploy
        configure enable rotate migrate register publish replace remove delete open move rename document write fix
        decide confirm consider make use commit start stop upgrade implement refactor monitor clean extend split
        investigate tell say ask führe starte prüfe teste lancez lancer vérifiez vérifier testez ajoutez ajouter
        exécutez ejecuta ejecutar revisa revisar prueba probar añadir agregar execute executar verifique verificar
        testar adicionar esegui eseguire verifica verificare aggiungere voer controleer toevoegen запустите проверьте
        запустить проверить добавить""",
    "done": """added fixed updated removed changed created implemented replaced renamed moved refactored rewrote
        rewritten wrote written built merged committed pushed deployed addressed resolved converted extracted
        simplified introduced made wired documented reverted restored bumped released published installed configured
        corrected found now gone split behoben hinzugefügt geändert entfernt erstellt umgesetzt ersetzt umbenannt
        verschoben eingebaut aktualisiert angepasst erledigt jetzt ajouté ajoutée corrigé corrigée modifié supprimé
        créé remplacé implémenté déplacé désormais añadido agregado corregido actualizado eliminado creado
        implementado cambiado movido ahora añadí corregí adicionado corrigido atualizado removido criado implementada
        alterado agora adicionei corrigi aggiunto corretto aggiornato rimosso creato implementato spostato ora
        toegevoegd opgelost gewijzigd verwijderd gemaakt bijgewerkt verplaatst nu добавил добавлен добавлена исправил
        исправлена исправлен обновил обновлён удалил удалён создал создан реализовал теперь заменил""",
    "why": """because since instead rather avoid avoids avoiding therefore hence reason reasons deliberately
        intentionally intentional purposely prefer preferred chose chosen choose decided decision keep kept keeps
        leave tradeoff so due weil denn damit statt stattdessen deshalb bewusst entschieden parce car plutôt afin
        choisi décidé volontairement porque lugar evitar decidí decidimos elegí decidi optei escolhi evita perché
        invece scelto deciso omdat zodat gekozen besloten потому вместо чтобы решил выбрал""",
    "cause": """issue problem cause root bug found turns turned actually only requires means currently always never
        culprit because default defaults behaviour behavior limit limits fails failed error expects returns contains
        uses ursache fehler nur grund erreur seulement problème problema causa solo siempre erro apenas sempre errore
        oorzaak fout alleen причина ошибка только проблема""",
    "filler": """done fixed all tests test pass passes passing passed clean green lint linting linter build builds
        heres here summary summarize what was were is are changed changes change made the a an everything works
        working perfect great good excellent sure yes ok okay right absolutely youre sorry apologies understood got it
        thanks thank now looks complete completed completely successfully success both following results result let me
        below ready committed pushed erledigt fertig alles klar gern gerne zusammenfassung hier ist sind voilà terminé
        fait bien sûr parfait résumé listo hecho perfecto claro resumen aquí pronto feito perfeito resumo aqui fatto
        perfetto certo riepilogo ecco klaar gedaan prima samenvatting готово отлично конечно вот итог""",
}
CLASS: dict[str, tuple[str, ...]] = {}
for _name, _words in _CLASSES.items():
    for _word in _words.split():
        CLASS[_word] = (*CLASS.get(_word, ()), _name)

# Languages that put no blanks between words: any of these in the text.
PIECES = {
    "not": ("没有", "不", "未", "ない", "ません", "않", "못"),
    "yet": ("尚未", "还没", "まだ", "아직"),
    "you": ("你", "您", "请", "あなた", "ください", "당신", "주세요"),
    "must": ("需要", "应该", "必须", "必要", "べき", "필요", "해야"),
    "may": ("可以", "要不要", "是否", "能", "ましょうか", "できます", "할까요", "원하시"),
    "later": (
        "下一步",
        "待办",
        "剩余",
        "之后",
        "后续",
        "未完成",
        "次の",
        "残り",
        "今後",
        "未対応",
        "다음",
        "남은",
        "나중",
    ),
    "done": ("已", "添加", "修复", "更新", "完成", "しました", "追加", "修正", "했습니다", "추가", "수정"),
    "why": ("因为", "所以", "而不是", "避免", "ため", "ので", "代わり", "때문", "대신"),
    "cause": ("问题", "原因", "错误", "問題", "エラー", "문제", "원인"),
}
