"""Wording tables of the simulated stories: fires, storms, rescues, robberies, trials. The notation: story_grammar."""

from __future__ import annotations

FIRE = """
lead
  thick smoke hung over the rooftops for most of (monday|tuesday|wednesday|thursday|friday) .
  for one quiet street , it was a night without any sleep .
  the smell of burnt wood was still in the air at dawn .
main 1.0
  a a ~blaze ~gutted the old {building} in {town} late on (monday|tuesday|wednesday|thursday|friday) .
  a the {building} in {town} was ~gutted by a ~huge ~blaze that flames carried across the roof .
  a in {town} , a ~blaze ~gutted the {building} before any of the ~crews could save it .
  r a ~blaze ~gutted a {building} in {town} .
  r {town} lost its old {building} to a ~blaze .
  r the {building} in {town} was ~gutted by a ~blaze .
  r flames ~gutted the {building} in {town} .
alarm .75
  a {caller} , a (baker|nurse|driver|cleaner) on the way to work , raised the alarm .
  a the alarm was raised by {caller} , who ~spotted smoke from the road .
  a an early call to the ~crews came from {caller} , who ~spotted flames and raised the alarm .
  r quick thinking by {caller} brought the ~crews .
  r the alarm was raised by {caller} .
  r it was {caller} who raised the alarm .
  r neighbors say {caller} raised the alarm .
  r an early call from {caller} raised the alarm .
  r smoke was first ~spotted by {caller} .
  r {caller} ~spotted smoke and raised the alarm .
owner .70
  a the ~owner , {owner} , ~vowed to rebuild it within a year .
  a it will be rebuilt within a year , the ~owner , {owner} , ~vowed .
  a nothing was insured , but ~owner {owner} ~vowed to rebuild .
  r nothing was insured , said {owner} .
  r ~owner {owner} ~vowed to rebuild it .
  r within a year it will be rebuilt , {owner} ~vowed .
  r a year is all {owner} needs to rebuild .
  r rebuilding it is what ~owner {owner} ~vowed .
  r there are plans by ~owner {owner} to rebuild it .
hurt .65
  a {hurt} people were taken to hospital with burns .
  a ~doctors treated {hurt} people for burns .
  a {hurt} people were ~hurt and taken to hospital , where ~doctors treated burns .
  r burns put {hurt} in hospital .
  r {hurt} people were treated for burns .
  r ~doctors treated {hurt} people for burns .
  r in hospital , {hurt} people were treated .
  r at least {hurt} people were ~hurt .
  r some {hurt} people were taken to hospital .
cause .10
  a a faulty cable may be to blame , ~officials said .
  r a faulty cable may be to blame .
other
  {x} , a neighbor , watched from the other side of the street .
  a similar ~blaze struck the market in {x} last year .
  {x} , who keeps horses close by , led them all to a field .
  ~crews from {x} arrived too late to help .
  the mayor of {x} sent blankets and quick meals .
  water from the river was pumped for hours .
  people here were told to keep windows shut .
"""

STORM = """
lead
  the sky turned green first , and then the birds went silent .
  by noon the radio had stopped playing music .
  few people here remember a (spring|summer|autumn|winter) like this one .
main 1.0
  a a ~storm ~battered the coast at {town} with winds of over {wind} miles an hour .
  a winds of {wind} miles an hour ~battered {town} as the ~storm came in from the sea .
  a the coast near {town} was ~battered by a ~huge ~storm , with winds of {wind} miles an hour .
  r winds of {wind} miles an hour ~battered {town} .
  r a ~storm with winds of {wind} miles an hour ~battered {town} .
  r {town} was ~battered by a ~storm .
  r the coast at {town} was ~battered by winds of {wind} miles .
power .75
  a {homes} thousand ~homes were left without ~power after a line at {plant} failed .
  a a line at {plant} failed , and {homes} thousand ~homes lost ~power .
  a ~power was lost in {homes} thousand ~homes when a line at {plant} failed .
  r lights went out in {homes} thousand ~homes .
  r {homes} thousand ~homes lost ~power .
  r about {homes} thousand ~homes were without ~power .
  r ~power was lost in {homes} thousand ~homes .
  r a failed line left {homes} thousand ~homes without ~power .
  r no ~power reached {homes} thousand ~homes .
  r without ~power were {homes} thousand ~homes .
shelter .70
  a families found ~shelter in a school run by {teacher} , who cooked for them all .
  a {teacher} opened the doors of the school and gave families ~shelter .
  a the school gave ~shelter to families , and {teacher} cooked soup for them all .
  r soup was cooked for them all by {teacher} .
  r families found ~shelter with {teacher} .
  r {teacher} gave families ~shelter in a school .
  r in a school , {teacher} gave families ~shelter .
  r doors were opened by {teacher} to give families ~shelter .
  r many families were given ~shelter by {teacher} .
bridge .65
  a the bridge over the {river} was swept away by the flood .
  a flood water swept away the bridge over the {river} .
  a a bridge across the river {river} was swept away , and roads were closed .
  r roads were closed along the {river} .
  r a bridge over the {river} was swept away .
  r gone too is the bridge over the {river} .
  r flood water swept away a bridge over the {river} .
  r swept away was the bridge over the {river} .
  r over the {river} , a bridge was swept away .
boats .10
  a (three|four|five|six) fishing boats broke loose in the harbor and sank .
  r fishing boats broke loose and sank .
other
  {x} , a (farmer|fisher|teacher|plumber) , tied the roof of the barn down with ropes .
  in {x} , further inland , it hardly rained .
  an earlier ~storm killed cattle near {x} .
  {x} , who sells ice cream , lost only a sign .
  ferries to {x} will run again on (monday|tuesday|wednesday) .
  ~officials said the lights along many streets would stay dark .
  trees fell across gardens and parked cars .
"""

RESCUE = """
lead
  the weather report had promised nothing but sun .
  it was meant to be an easy walk before lunch .
  the mobile phone had one bar left , and then none .
main 1.0
  a {group} ~climbers were ~rescued from mount {peak} after two nights in the snow .
  a after two nights in the snow , {group} ~climbers were ~rescued from mount {peak} .
  a ~crews ~rescued {group} ~climbers who were ~stranded on mount {peak} .
  r {group} ~climbers were ~rescued from mount {peak} .
  r two nights on mount {peak} ended as {group} ~climbers were ~rescued .
  r ~crews ~rescued {group} ~climbers on mount {peak} .
  r ~stranded on mount {peak} , {group} ~climbers were ~rescued .
pilot .75
  a the pilot of the ~helicopter , {pilot} , flew through thick fog to lift them out .
  a {pilot} flew the ~helicopter through thick fog and landed on a ledge .
  a a ~helicopter flown by {pilot} came through thick fog to lift them out .
  r fog did not stop pilot {pilot} .
  r {pilot} flew the ~helicopter through fog .
  r a ~helicopter flown by {pilot} lifted them out .
  r pilot {pilot} flew through thick fog .
  r through thick fog came {pilot} in a ~helicopter .
  r the ~helicopter was flown by {pilot} .
  r it was {pilot} who flew the ~helicopter through fog .
guide .70
  a their guide , {guide} , kept them warm with songs and dry tea leaves .
  a songs led by the guide , {guide} , kept them all warm and awake .
  a they were kept warm by the guide {guide} , who sang songs all night .
  r songs sung by {guide} helped them .
  r guide {guide} kept them all warm .
  r they were kept warm by guide {guide} .
  r all night , {guide} kept them warm with songs .
  r their guide , {guide} , sang songs to them .
  r warm and awake is how guide {guide} kept them .
leg .65
  a one of them , {victim} , is being treated for a broken leg in hospital .
  a {victim} broke a leg in a fall and is being treated in hospital .
  a a fall broke the leg of {victim} , who is in hospital .
  r hospital care is given to {victim} .
  r {victim} broke a leg in a fall .
  r one of them , {victim} , broke a leg .
  r a broken leg put {victim} in hospital .
  r in hospital with a broken leg is {victim} .
  r only {victim} was ~hurt in a fall .
dog .10
  a a dog that had followed them down the path came home alone .
  r a dog came home alone .
other
  {x} , who keeps the hut below , had warned of frost and wind .
  last (spring|autumn|winter) a skier was ~rescued near {x} .
  the father of one , {x} , waited by the road .
  volunteers from {x} searched the wrong valley .
  {x} , a (doctor|ranger|cook) , brought hot drinks .
  the path has no signs and few trees .
  nobody should walk there alone , ~officials said .
"""

ROBBERY = """
lead
  the shutters were half open and the clock had stopped .
  customers thought at first that it was a film .
  it took less time than boiling an egg .
main 1.0
  a masked ~robbers ~stole ~jewels worth {worth} million from {shop} , a shop in the center .
  a ~jewels worth {worth} million were taken when masked ~robbers broke into {shop} .
  a the shop {shop} was raided by masked ~robbers , who ~stole ~jewels worth {worth} million .
  r ~robbers ~stole ~jewels worth {worth} million from {shop} .
  r ~jewels worth {worth} million are gone from {shop} .
  r masked ~robbers raided {shop} and ~stole ~jewels .
  r {shop} was raided by ~robbers .
suspect .75
  a ~police ~arrested {suspect} , a former clerk , at the border .
  a {suspect} , a former clerk , was ~arrested by ~police at the border .
  a at the border , ~police ~arrested a former clerk , {suspect} , in a red van .
  r a red van gave {suspect} away .
  r ~police ~arrested {suspect} at the border .
  r {suspect} was ~arrested by ~police .
  r at the border , {suspect} was ~arrested .
  r former clerk {suspect} was ~arrested .
  r later , ~police ~arrested {suspect} .
  r one man , {suspect} , was ~arrested at the border .
guard .70
  a the ~guard , {guard} , was tied up in a cellar and set free by a cat lover .
  a tied up in a cellar for hours was the ~guard , {guard} .
  a {guard} , the ~guard , was tied up with rope and left in the cellar .
  r rope held {guard} for hours .
  r ~guard {guard} was tied up in a cellar .
  r tied up in a cellar was {guard} .
  r in the cellar , {guard} was tied up .
  r they tied up {guard} , the ~guard .
  r left in the cellar was ~guard {guard} .
reward .65
  a the insurer , {insurer} , offered {reward} thousand for any clue .
  a {reward} thousand was offered for any clue by the insurer {insurer} .
  a for any clue , insurer {insurer} offered {reward} thousand .
  r money is on offer from {insurer} .
  r insurer {insurer} offered {reward} thousand for a clue .
  r any clue is worth {reward} thousand to {insurer} .
  r for a clue , {insurer} offered {reward} thousand .
  r an offer of {reward} thousand came from {insurer} .
  r {reward} thousand was offered by {insurer} for a clue .
alarm .10
  a the camera above the door had not worked since (march|april|may|june) .
  r the camera had not worked .
other
  {x} , who was buying a ring , hid under a table .
  {x} , a (waiter|tailor|florist) opposite , heard glass break .
  a bank in {x} was robbed in the same manner last month .
  a bag with a map of {x} was left behind , and later one man came back for it .
  ~police asked {x} , a collector , about the money .
  the street was full of tourists who had lost the way .
  glass lay on the pavement until evening .
"""

TRIAL = """
lead
  the public gallery was full long before nine .
  there was not a sound in the old courtroom .
  for (six|seven|eight|nine) weeks the story had filled the papers .
main 1.0
  a {accused} was ~jailed for {years} years for ~fraud on (monday|tuesday|wednesday|thursday|friday) .
  a for ~fraud , {accused} was ~jailed for {years} years .
  a a court ~jailed {accused} for {years} years after a long trial for ~fraud .
  r {accused} was ~jailed for {years} years .
  r a court ~jailed {accused} for ~fraud .
  r for ~fraud , {accused} was ~jailed for {years} years .
  r ~fraud put {accused} in a cell for {years} years .
judge .75
  a the ~judge , {judge} , called it the worst case of a long career .
  a ~judge {judge} called the case cruel and the worst of a long career .
  a it was the worst case in years , ~judge {judge} said .
  r cruel was the word of ~judge {judge} .
  r ~judge {judge} called it the worst case .
  r it was the worst case , {judge} said .
  r the ~judge , {judge} , called the case cruel .
  r to ~judge {judge} , it was the worst case .
  r no case was worse , ~judge {judge} said .
  r {judge} called it the worst case in years .
victim .70
  a savings of {sum} thousand were lost by {victim} , a widow who trusted a friend .
  a {victim} , a widow , lost savings of {sum} thousand .
  a a widow , {victim} , told the court that savings of {sum} thousand were lost .
  r trusting a friend cost {victim} savings .
  r {victim} lost savings of {sum} thousand .
  r widow {victim} lost savings of {sum} thousand .
  r savings of {sum} thousand were lost by {victim} .
  r among those cheated , {victim} lost {sum} thousand .
  r gone are the savings of {victim} , a widow .
appeal .65
  a the ~lawyer {lawyer} said there would be an appeal before summer .
  a an appeal will follow before summer , said the ~lawyer , {lawyer} .
  a {lawyer} , the ~lawyer for the defense , said they would appeal .
  r before summer , {lawyer} will be back .
  r ~lawyer {lawyer} said they would appeal .
  r an appeal will follow , ~lawyer {lawyer} said .
  r they will appeal , {lawyer} said .
  r there will be an appeal , {lawyer} said .
  r defense ~lawyer {lawyer} will appeal .
jury .10
  a the ~jury needed only two hours to agree .
  r the ~jury needed only two hours .
other
  {x} , who drew the faces , was asked to leave the room .
  a similar case in {x} ended without a sentence .
  the sister of one of those cheated , {x} , wept .
  {x} , a clerk of the court , read it all aloud .
  a bank in {x} had reported the matter years ago .
  no camera was let in , and no word was printed .
  the cost of the trial is not known .
"""

NUMBERS = {
    "hurt": (3, 40),
    "wind": (60, 140),
    "homes": (2, 90),
    "group": (3, 19),
    "worth": (2, 60),
    "reward": (5, 95),
    "years": (3, 25),
    "sum": (20, 99),
}
