"""Wording tables of the simulated stories: matches, elections, mergers, strikes, finds. The notation: story_grammar."""

from __future__ import annotations

MATCH = """
lead
  the grass was wet and the drums were loud .
  no seat was left an hour before the whistle .
  they will talk about this (saturday|sunday|friday) for years .
main 1.0
  a {winner} ~beat {loser} by {goals} goals in the final of the cup .
  a in the final of the cup , {winner} ~beat {loser} by {goals} goals .
  a the cup went to {winner} , who ~beat {loser} by {goals} goals in a fine ~game .
  r {winner} ~beat {loser} to win the cup .
  r the cup went to {winner} , who ~beat {loser} .
  r by {goals} goals , {winner} ~beat {loser} in the final .
  r a final of {goals} goals saw {winner} ~beat {loser} .
scorer .75
  a the ~striker {scorer} ~netted the winner with a header from close range .
  a a header from the ~striker {scorer} was the winner .
  a {scorer} , the ~striker , ~netted the winner late in the second half .
  r a header by {scorer} settled it .
  r ~striker {scorer} ~netted the winner .
  r {scorer} ~netted the winner late in the ~game .
  r late on , ~striker {scorer} ~netted the winner .
  r the winner was ~netted by {scorer} .
  r it was {scorer} who ~netted the winner .
  r in the second half , {scorer} ~netted the winner .
coach .70
  a the ~coach , {coach} , will leave the club after {seasons} seasons .
  a after {seasons} seasons , ~coach {coach} will leave the club .
  a it was the last ~game for ~coach {coach} , who leaves the club after {seasons} seasons .
  r seasons come and go , so does {coach} .
  r ~coach {coach} will leave after {seasons} seasons .
  r after {seasons} seasons , ~coach {coach} will leave .
  r it was the last ~game for {coach} .
  r leaving the club is ~coach {coach} .
  r for {coach} , it was the last ~game .
keeper .65
  a the goalkeeper {keeper} was carried off with a torn knee .
  a {keeper} , the goalkeeper , was carried off with a torn knee after a fall .
  a a torn knee ended the day of goalkeeper {keeper} .
  r pain ended the day of {keeper} .
  r goalkeeper {keeper} was carried off .
  r a torn knee ended it for {keeper} .
  r carried off was goalkeeper {keeper} .
  r with a torn knee , {keeper} was carried off .
  r there was a torn knee for goalkeeper {keeper} .
crowd .10
  a the ~crowd sang until long after dark .
  r the ~crowd sang until dark .
other
  {x} , a defender , saw a yellow card .
  the club from {x} went out in the last round .
  {x} , who once played here , handed over the medals .
  the bus from {x} came late because of roadworks .
  {x} , a (singer|drummer|painter) , led the songs .
  the referee blew for half time too early .
  tickets had been sold out for (two|three|four) weeks .
"""

ELECTION = """
lead
  the last boxes were opened well after midnight .
  rain kept almost nobody at home .
  it has not been this close for a generation .
main 1.0
  a {winner} was elected mayor of {town} with {share} percent of the ~ballots .
  a with {share} percent of the ~ballots , {winner} was elected mayor of {town} .
  a the new mayor of {town} is {winner} , who ~won {share} percent of the ~ballots .
  r {winner} was elected mayor of {town} .
  r the new mayor of {town} is {winner} .
  r with {share} percent , {winner} ~won in {town} .
  r {town} elected {winner} with {share} percent of the ~ballots .
rival .75
  a the ~rival , {rival} , ~conceded in a short speech shortly after ten .
  a {rival} , the ~rival , ~conceded and wished the new team luck .
  a in a short speech , ~rival {rival} ~conceded and hugged the staff .
  r luck was wished by {rival} .
  r ~rival {rival} ~conceded in a short speech .
  r {rival} ~conceded shortly after ten .
  r in a short speech , {rival} ~conceded .
  r shortly after ten , ~rival {rival} ~conceded .
  r a short speech was made by ~rival {rival} .
  r the ~rival , {rival} , ~conceded .
plan .70
  a the first plan is to ~lower ~taxes and to build a tram line to {suburb} .
  a a tram line to {suburb} will be built , and ~taxes will be ~lower .
  a ~lower ~taxes and a tram line to {suburb} are the first plans .
  r trams will run to {suburb} .
  r a tram line to {suburb} will be built .
  r plans include a tram line to {suburb} .
  r first comes a tram line to {suburb} .
  r ~lower ~taxes and a tram to {suburb} are planned .
  r to {suburb} , a tram line will be built .
recount .65
  a {clerk} , who ran the count , found {lost} hundred ~ballots in a cupboard .
  a in a cupboard , {lost} hundred ~ballots were found by {clerk} , who ran the count .
  a {lost} hundred ~ballots were found in a cupboard during the count run by {clerk} .
  r a cupboard surprised {clerk} .
  r {lost} hundred ~ballots were found by {clerk} .
  r during the count , {clerk} found {lost} hundred ~ballots .
  r some {lost} hundred ~ballots were found by {clerk} .
  r in a cupboard , {clerk} found {lost} hundred ~ballots .
  r {clerk} found {lost} hundred ~ballots in a cupboard .
turnout .10
  a turnout was the highest since (the war|the flood|records began) .
  r turnout was the highest in years .
other
  {x} , a student voting first , brought a cake .
  in {x} , the old council stays in office .
  {x} , who leads a small party , came a distant third .
  a poll by {x} had been wrong by a mile .
  {x} , a (farmer|printer|teacher) , drove old people to the school .
  posters will be taken down within a week .
  the first meeting includes a dinner .
"""

MERGER = """
lead
  the phones did not stop ringing before breakfast .
  rumors had gone round the canteen for weeks .
  only a handful of people knew on (sunday|monday) .
main 1.0
  a {buyer} will ~buy {target} , a maker of {product} , for {price} million .
  a for {price} million , {buyer} will ~buy the {product} maker {target} .
  a the {product} maker {target} has agreed to be bought by {buyer} for {price} million .
  r {buyer} will ~buy {target} for {price} million .
  r {product} maker {target} will be bought by {buyer} .
  r for {price} million , {buyer} will ~buy {target} .
  r a ~deal worth {price} million joins {buyer} and {target} .
jobs .75
  a {jobs} hundred ~jobs will be lost at the plant in {town} .
  a the plant in {town} will lose {jobs} hundred ~jobs .
  a at the plant in {town} , {jobs} hundred ~jobs will go by the end of the year .
  r workers fear for the plant in {town} .
  r {jobs} hundred ~jobs will be lost in {town} .
  r about {jobs} hundred ~jobs will go in {town} .
  r in {town} , {jobs} hundred ~jobs will be lost .
  r the plant in {town} will lose {jobs} hundred ~jobs .
  r lost will be {jobs} hundred ~jobs in {town} .
  r some {jobs} hundred ~jobs at {town} will go .
chief .70
  a {chief} will be the ~chief of the joint group from (january|april|july) .
  a the joint group will have {chief} as its ~chief .
  a the ~chief of the joint group will be {chief} , who began as a driver .
  r once a driver , {chief} takes over .
  r the ~chief will be {chief} .
  r {chief} will be ~chief of the joint group .
  r its new ~chief will be {chief} .
  r as ~chief , {chief} will lead the joint group .
  r leading the joint group will be {chief} .
shares .65
  a ~shares rose by {rise} percent after the broker {broker} called the price fair .
  a the broker {broker} called the price fair , and ~shares rose by {rise} percent .
  a after {broker} , a broker , called the price fair , ~shares rose {rise} percent .
  r fair is what {broker} called it .
  r ~shares rose by {rise} percent .
  r broker {broker} called the price fair .
  r by {rise} percent , ~shares rose .
  r after the news , ~shares rose {rise} percent .
  r at {broker} , the price was called fair .
name .10
  a the name over the gate will stay as it is .
  r the name will stay .
other
  {x} , a rival ~firm , had offered less .
  the founder , {x} , died many years ago .
  {x} , who sits on the board , was the only one against .
  a smaller ~deal in {x} failed last (spring|summer|autumn) .
  the bank {x} lends most of the money .
  ~shareholders will vote next month .
  a rule on competition may slow things down .
"""

STRIKE = """
lead
  the gates stayed shut and the coffee went cold .
  at five in the morning the first fire was lit in a barrel .
  it has been a strange (week|month) for anyone who commutes .
main 1.0
  a ~workers at {employer} began a ~strike over ~pay that may last {days} days .
  a a ~strike over ~pay by ~workers at {employer} may last {days} days .
  a over ~pay , ~workers at {employer} began a ~strike of {days} days .
  r ~workers at {employer} began a ~strike over ~pay .
  r a ~strike over ~pay has stopped {employer} .
  r {employer} faces a ~strike of {days} days .
  r over ~pay , ~workers at {employer} began a ~strike .
union .75
  a the union leader {leader} demanded {raise} percent more for all .
  a {raise} percent more for all is what union leader {leader} demanded .
  a {leader} , who leads the union , demanded {raise} percent more .
  r more is the demand of {leader} .
  r union leader {leader} demanded {raise} percent more .
  r {leader} demanded {raise} percent more for all .
  r the union , led by {leader} , demanded {raise} percent .
  r for all , {leader} demanded {raise} percent more .
  r {raise} percent more was demanded by {leader} .
  r at least {raise} percent more is demanded by {leader} .
offer .70
  a the director , {director} , refused and spoke of empty coffers .
  a coffers are empty , said the director , {director} , who refused .
  a {director} , the director , refused to meet them because of empty coffers .
  r empty coffers were shown by {director} .
  r director {director} refused to meet them .
  r the director , {director} , refused .
  r so far , director {director} has refused .
  r {director} refused because of empty coffers .
  r because of empty coffers , {director} refused .
talks .65
  a ~talks will be led by {broker} , a retired bishop , in the town hall .
  a {broker} , a retired bishop , will lead ~talks in the town hall .
  a a retired bishop , {broker} , agreed to lead ~talks .
  r a bishop , {broker} , may help .
  r ~talks will be led by {broker} .
  r retired bishop {broker} will lead ~talks .
  r now {broker} will lead ~talks .
  r in the town hall , {broker} will lead ~talks .
  r to lead ~talks , they chose {broker} .
trains .10
  a no train or bus will run before (monday|thursday|friday) .
  r no train or bus will run .
other
  {x} , who walked to school , did not mind .
  a shorter ~strike at {x} ended with a handshake .
  {x} , a (baker|butcher|grocer) , gave bread to the pickets .
  in {x} , the depot stayed open .
  {x} , a passenger , waited with a suitcase .
  a band played and children waved flags .
  the police only watched and helped with traffic .
"""

FIND = """
lead
  it began with a dog and a very deep hole .
  the field had been used for cabbages and nothing else .
  at first they took it for a drain .
main 1.0
  a ~researchers ~found an ~ancient ~tomb below a car park in {town} .
  a below a car park in {town} , ~researchers ~found an ~ancient ~tomb .
  a an ~ancient ~tomb was ~found in {town} by ~researchers who were digging below a car park .
  r ~researchers ~found an ~ancient ~tomb in {town} .
  r an ~ancient ~tomb was ~found in {town} .
  r {town} has an ~ancient ~tomb below a car park .
  r below a car park in {town} , a ~tomb was ~found .
coins .75
  a {coins} gold ~coins lay in a jar beside the queen {queen} .
  a beside the queen , whose name was {queen} , lay {coins} gold ~coins .
  a the queen {queen} lay there with {coins} gold ~coins in a jar .
  r gold lay beside queen {queen} .
  r {coins} gold ~coins lay beside queen {queen} .
  r queen {queen} lay there with {coins} gold ~coins .
  r beside queen {queen} lay {coins} gold ~coins .
  r a jar held {coins} gold ~coins of queen {queen} .
  r inside lay queen {queen} with {coins} gold ~coins .
  r there were {coins} gold ~coins beside queen {queen} .
expert .70
  a {expert} , who leads the dig , dated it to the year {year} .
  a the leader of the dig , {expert} , dated it to the year {year} .
  a it was dated to the year {year} by {expert} , the leader of the dig .
  r very old it is , says {expert} .
  r the leader of the dig , {expert} , dated it to {year} .
  r {expert} dated it to the year {year} .
  r it was dated to {year} by {expert} .
  r dig leader {expert} dated it to {year} .
  r to the year {year} it was dated by {expert} .
museum .65
  a the museum of {city} will show it all from (may|june|july|august) .
  a it will all be shown in the museum of {city} in (may|june|july|august) .
  a visitors will see it all in the museum of {city} .
  r visitors must travel to {city} .
  r the museum of {city} will show it .
  r it will be shown in the museum of {city} .
  r in {city} , the museum will show it all .
  r a museum in {city} will show it all .
  r soon the museum of {city} will show it .
school .10
  a a class of children helped to wash the bones .
  r children helped to wash the bones .
other
  {x} , who rents the car park , wants it back .
  a sword from {x} turned out to be a toy .
  {x} , a (priest|gardener|plumber) , heard knocking for years inside the wall .
  the university of {x} had called the place worthless .
  {x} , a student , cut a hand on a stone .
  a roof of plastic keeps the rain off .
  the work is paid by a lottery .
"""

NUMBERS = {
    "goals": (2, 9),
    "seasons": (3, 24),
    "share": (34, 69),
    "lost": (2, 19),
    "price": (20, 99),
    "jobs": (2, 30),
    "rise": (2, 30),
    "days": (3, 30),
    "raise": (4, 15),
    "coins": (20, 99),
    "year": (300, 399),
}
