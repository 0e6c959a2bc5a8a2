"""Sentences that may stand in any simulated story and never matter. The notation: story_grammar."""

from __future__ import annotations

BYSTANDERS = """
{x} , a (retired|young|local) (plumber|gardener|dentist|librarian) , took photographs with a borrowed camera .
{x} , who sells (flowers|vegetables|newspapers|pottery) on the corner , settled for soup and closed early .
a cousin of {x} who loves trams wrote a poem about the news and read it on local radio .
{x} made (sandwiches|pancakes|porridge|lemonade) for whoever asked .
the (cat|parrot|donkey|goat) of {x} slept through it all .
{x} comes here often and does say that nothing ever happens , so far .
in {x} , by contrast , the (bakery|chapel|swimming pool|skating rink) opened as planned .
a choir from {x} had sung in the (park|square|chapel) the evening before .
some visitors held umbrellas , among them {x} with a (purple|yellow|striped) one .
the (post office|barber|pharmacy|bookshop) needs a new window , said {x} .
a reporter from {x} reached the place by (bicycle|tractor|canoe|scooter) .
{x} was given a (medal|scarf|basket of apples|bottle of cider) for an older deed .
now thinking back , {x} could not tell how it had all started .
neighbors fear nothing worse than a (flat tire|wet sock|lost glove) was reported from {x} .
the (goose|pumpkin|kite|chess) festival at {x} goes ahead on sunday at least .
at (lunchtime|sunset|midnight) a (rainbow|comet|full moon) was seen over {x} .
leading (chemists|painters|pianists|gymnasts) meet in {x} this weekend .
{x} , leaving for a holiday in the (desert|jungle|arctic) , had no comment .
a (juggler|magician|clown) called {x} lifted the mood of the children .
the (ticket|lottery|raffle) in {x} was won by a grandmother .
those who take the (ferry|tram|highway) to {x} must travel with care , as it takes an extra hour .
{x} , an (engineer|electrician|optician|astronomer) , lost a (wallet|necklace|briefcase) in the confusion .
to win some quiet , {x} chose to put (cotton|wax) in both ears against the pain .
a (balloon|lantern|drone) from {x} landed on the lawn of the (abbey|castle|courthouse) .
the offer of (honey|cheese|mustard) by {x} surprised few and was refused with thanks .
{x} , trusting in luck , joins a long list of (onlookers|gossips|pilgrims) with an opinion .
by popular demand (stamps|clocks|puppets|tapestries) will soon come to {x} and include a (dragon|mermaid) .
there are (rabbits|hedgehogs|squirrels) in the cell of an old prison near {x} .
pupils from {x} are rebuilding a (windmill|lighthouse|canal boat) and need to give it a name .
for more details , {x} said , look at the (notice board|town website|church door) .
"""
