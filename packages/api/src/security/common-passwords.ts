/**
 * Passwords that every published list of leaked ones begins with, folded to lower case.
 * Only those of eight or more characters: shorter ones are refused anyway.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
    !qaz2wsx 00000000 000000000 0000000000 0123456789 0987654321 10203040 102030405 1020304050 11111111 111111111
    1111111111 11223344 1122334455 112233445566 12121212 123123123 123321123 12341234 1234512345 123454321 1234554321
    12345678 123456780 123456789 1234567890 12345678910 123456789a 123456789q 12345678a 1234567a 1234567q 123456aa
    123456abc 123456qwerty 12345qwert 1234qwer 123asd123 123password 123qwe123 123qweasd 123qweasdzxc 12qwaszx
    13131313 147258369 147852369 159753456 1a2b3c4d 1g2w3e4r 1password 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx
    1qaz2wsx3edc 1qaz@wsx 1qazxsw2 20202020 22222222 31415926 4321rewq 5201314520 5201314a 55555555 66666666 741852963
    77777777 789456123 87654321 88888888 88888888a 963852741 987654321 99999999 a12345678 a123456789 a1b2c3d4
    a1b2c3d4e5 aa123456 aa12345678 aa@123456 aaaaaaaa aaaaaaaaa abc12345 abc123456 abcd1234 abcd12345 abcdef123
    abcdefg1 abcdefgh abcdefghi access14 admin123 admin1234 admin12345 admin@123 adminadmin administrator
    administrator1 alejandra alejandro alexande alexander alexandra amanda123 america1 american americas andrea123
    andrew123 anonymous anthony1 anthony123 anything1 arsenal1 asd123456 asdasdasd asdf1234 asdfasdf asdfghjk
    asdfghjkl asdfjkl; asdfqwer ashley123 austin123 australia autumn2024 autumn2025 autumn2026 azerty12 azerty123
    azertyuiop babygirl babygirl1 banana123 bangladesh barcelona baseball baseball1 basketball batman123 bayern123
    beautiful beautiful1 benjamin bienvenido bismillah blessed1 blessing blink123 blink182 blueberry bonjour1
    bonjour123 brandon1 brandon123 brasil123 butterfly butterfly1 california cameron1 canadian carolina change123
    changeme changeme1 changeme123 charizard charlie1 charlie123 chelsea1 cheyenne chicago1 chocolate chocolate1
    chouchou christian christina christine cinnamon colorado computer computer1 computer123 contrasena contraseña
    cookie123 cookies1 corazon1 correcthorse correcthorsebatterystaple corvette counterstrike cowboys1 cricket1
    cricket123 cristina crystal1 cupcake1 daddy123 daniel123 danielle danielle1 dbnfkbr1 december december1 default1
    default123 deutschland diamond1 dolphin1 dolphins doudou123 dragon12 dragon123 dragonball elephant elizabeth
    eminem123 estrella evanescence everquest everything facebook facebook1 family123 father123 february fernando
    ferrari1 florida1 football football1 football123 forever1 forever21 fortnite1 francisco freedom1 freedom123
    friends1 friendship fussball gabriel1 gabriela gangsta1 gangster geheim123 germany1 gfhjkm123 ginger123
    godblessyou godisgood goodluck goodmorning google123 gorgeous greenday guest123 guest1234 gwerty123 hallo123
    hallo1234 handsome hannah123 hardcore harley123 harleydavidson heaven11 hello123 hello1234 hello12345 hellohello
    helloworld hockey123 hunter12 hunter123 iamthebest ilovegod ilovehim iloveu123 iloveyou iloveyou! iloveyou1
    iloveyou123 iloveyou2 india123 indonesia instagram internet internet1 internet123 isabella january1 jennifer
    jennifer1 jessica1 jessica123 jesus123 jesuschrist jonathan jordan23 joshua123 justin123 juventus killer12
    killer123 kittycat letmein1 letmein123 letmeinnow letmeout letmepass liberty1 linkedin liverpool liverpool1
    lkjhgfdsa login123 login1234 london123 loulou123 lovelove loveme12 loveyou1 manchester margarita marina123
    mariposa marseille master12 master123 masterkey matthew1 matthew123 maverick mercedes metallica metallica1
    mexico123 michael1 michelle michelle1 michigan midnight midnight1 minecraft minecraft1 mnbvcxz1 mommy123 monday123
    monica123 monkey12 monkey123 monkey1234 motdepasse mother123 mountain mountain1 mustang1 mylove123 mypass123
    mypassword mypassword1 mysecret nastya123 natalie1 natasha1 newyork1 nicholas nicole123 ninja123 nintendo nirvana1
    nothing1 nothing123 november november1 october1 openopen opensesame p@ssw0rd p@ssword pa$$word pa55word pakistan
    pakistan1 pakistan123 panther1 paris123 pass1234 pass12345 pass@123 pass@word1 passpass passw0rd password
    password! password01 password1 password1! password12 password123 password1234 password2 passwords passwort
    passwort1 patricia peaches1 pepper123 philippines phoenix1 pineapple playboy1 player123 playstation poiuytrewq
    pokemon1 pokemon123 precious precious1 princesa princess princess1 princess123 pussycat q12345678 q1w2e3r4
    q1w2e3r4t5 q1w2e3r4t5y6 qazwsx123 qazwsxedc qazwsxedcrfv qqqqqqqq qwaszx12 qweasdzxc qweqweqwe qwer1234 qwerasdf
    qwert1234 qwert12345 qwerty12 qwerty123 qwerty1234 qwerty12345 qwerty123456 qwertyui qwertyuiop qwertyuiop123
    rachel123 rangers1 realmadrid rebecca1 richard1 robert123 rockstar rockyou1 rockyou123 root1234 rootroot runescape
    samantha samantha1 samsung1 samsung123 sayang123 schatz123 scooter1 sebastian secret123 secretpassword september
    september1 shadow123 skateboard slipknot slipknot1 snowball snowboard soccer12 soccer123 soleil123 something
    something1 sommer123 spiderman spiderman1 spring2024 spring2025 spring2026 starwars starwars1 steelers stephanie
    strawberry summer123 summer2020 summer2021 summer2022 summer2023 summer2024 summer2025 summer2026 sunday123
    sunshine sunshine1 sunshine123 superman superman1 superman123 superstar superstar1 sweetheart sweetness sweetpea
    swimming teamomucho temp1234 temporary temppass tennis123 tequiero tequiero1 test1234 test12345 tester123 testing1
    testing123 testtest thebest1 thomas123 thunder1 tigger123 toor1234 trustno1 tyler123 unknown1 user1234 username
    valentina vanessa1 vanessa123 veronica victoria victoria1 warcraft watermelon welcome! welcome01 welcome1
    welcome12 welcome123 welcome2 whatever whatever1 whatsapp william1 winter123 winter2020 winter2021 winter2022
    winter2023 winter2024 winter2025 winter2026 woaini123 woaini1314 woaini520 worldofwarcraft wwwwwwww xbox3600
    xxxxxxxx yamaha123 yankees1 zag12wsx zaq12wsx zaq1zaq1 zxcvasdf zxcvbnm, zxcvbnm1 zxcvbnm123 zxcvbnmm zxczxczxc
    zzzzzzzz
  `
    .trim()
    .split(/\s+/),
);
