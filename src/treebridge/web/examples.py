"""Example sentences for the page, by language code."""

from __future__ import annotations

EXAMPLES = {
    "el": (
        "Η τράπεζα ενέκρινε το δάνειο.",
        "Η αδελφή μου διαβάζει ένα βιβλίο που αγόρασε χθες στον σταθμό.",
        "Τα παιδιά παίζουν στον κήπο.",
        "Ποιος σου είπε ότι δεν θα έρθουμε στη γιορτή;",
    ),
    "en": (
        "The bank approved the loan.",
        "My sister is reading a book that she bought yesterday at the station.",
        "The children are playing in the garden.",
        "Who told you that we would not come to the party?",
    ),
    "es": (
        "El banco aprobó el préstamo.",
        "Mi hermana lee un libro que compró ayer en la estación.",
        "Los niños juegan en el jardín de la escuela.",
        "¿Quién le dijo que no vendríamos a la fiesta?",
    ),
    "fi": (
        "Pankki hyväksyi lainan.",
        "Siskoni lukee kirjaa, jonka hän osti eilen asemalta.",
        "Lapset leikkivät puutarhassa.",
        "Kuka sanoi sinulle, että emme tule juhliin?",
    ),
    "pl": (
        "Bank zatwierdził kredyt.",
        "Moja siostra czyta książkę, którą kupiła wczoraj na dworcu.",
        "Dzieci bawią się w ogrodzie.",
        "Kto ci powiedział, że nie przyjdziemy na przyjęcie?",
    ),
    "pt": (
        "O banco aprovou o empréstimo.",
        "A minha irmã lê um livro que comprou ontem na estação.",
        "As crianças brincam no jardim da escola.",
        "Quem lhe disse que não viríamos à festa?",
    ),
    "ro": (
        "Banca a aprobat împrumutul.",
        "Sora mea citește o carte pe care a cumpărat-o ieri la gară.",
        "Copiii se joacă în grădină.",
        "Cine ți-a spus că nu vom veni la petrecere?",
    ),
}
