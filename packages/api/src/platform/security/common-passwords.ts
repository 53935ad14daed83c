import { foldWord } from './normalise-password.ts';

/**
 * Common passwords that are missing in the dictionary, because zxcvbn detects repetitions,
 * sequences and years by rules. In lower case, eight or more characters.
 */
const additionalPasswords = `
    00000000 000000000 0000000000 0123456789 0987654321 111111111 1111111111 12121212 123123123 12341234 1234512345
    123password 13131313 1g2w3e4r 20202020 22222222 5201314520 5201314a 55555555 66666666 77777777 87654321 88888888
    88888888a 987654321 99999999 aa12345678 aa@123456 aaaaaaaa aaaaaaaaa abcdefgh abcdefghi admin1234 admin12345
    admin@123 adminadmin administrator1 andrea123 anthony123 anything1 asdasdasd autumn2024 autumn2025 autumn2026
    banana123 bayern123 bienvenido blink123 bonjour123 brandon123 brasil123 change123 changeme123 computer123
    contraseña corazon1 correcthorse correcthorsebatterystaple cricket123 dbnfkbr1 default123 doudou123 eminem123
    facebook1 family123 father123 fortnite1 freedom123 geheim123 godblessyou guest123 guest1234 gwerty123 hallo1234
    hannah123 harley123 harleydavidson heaven11 hello12345 iamthebest iloveu123 instagram internet123 jessica123
    letmepass linkedin lkjhgfdsa login123 login1234 loulou123 matthew123 mexico123 minecraft1 monday123 monica123
    monkey1234 mother123 mountain1 mylove123 mypass123 mypassword1 nothing123 p@ssword pa$$word pakistan123
    pass12345 pass@123 pass@word1 password1! player123 poiuytrewq princess123 qqqqqqqq qweqweqwe rachel123 rockyou1
    rockyou123 root1234 rootroot sayang123 schatz123 secretpassword september1 soleil123 sommer123 spring2024
    spring2025 spring2026 summer123 summer2020 summer2021 summer2022 summer2023 summer2024 summer2025 summer2026
    sunday123 sunshine123 superstar1 teamomucho tennis123 tequiero1 test12345 tester123 thebest1 tigger123 toor1234
    user1234 vanessa123 welcome! whatsapp winter123 winter2020 winter2021 winter2022 winter2023 winter2024
    winter2025 winter2026 woaini123 woaini1314 woaini520 worldofwarcraft wwwwwwww xbox3600 xxxxxxxx yamaha123
    zag12wsx zaq1zaq1 zxcvbnm, zxczxczxc zzzzzzzz
  `;

/**
 * Whether a folded password is among the common ones: zxcvbn-ts's dictionary of leaked passwords
 * (17,950 of eight or more characters) and the additional ones.
 * Loading the dictionary takes 70 ms and happens when the first password is chosen.
 */
export async function isCommonPassword(folded: string): Promise<boolean> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return (await loading).has(folded);
}

let loading: Promise<ReadonlySet<string>> | null = null;

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set([...dictionary['passwords-common'], ...additionalPasswords.trim().split(/\s+/)].map(foldWord));
}
