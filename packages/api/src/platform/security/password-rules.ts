import { domainToUnicode } from 'node:url';
import { z } from 'zod';
import { type Message, message, zodMessage } from '../messages.ts';
import { isStorable } from './text.ts';

declare const normalised: unique symbol;

/** A password in the form in which it is counted, hashed and compared. Only `normalisePassword` returns one. */
export type Password = string & { readonly [normalised]: true };

const minLength = 8;
/** In code points. */
export const maxLength = 256;

/**
 * Returns the form of a password: NFKC, never trimmed. Of a text from which NFKC makes no password of at most 256
 * characters only the beginning: the time that it takes can be the square of the length.
 */
export function normalisePassword(typed: string): Password {
  return typed.slice(0, 16 * maxLength).normalize('NFKC') as Password;
}

/**
 * Returns a message that says why a new password of the right form (`newPasswordField`) is not
 * accepted, or null if it is. `forbidden` lists what it must not resemble: the address and the
 * service's name.
 */
export async function passwordFault(password: Password, forbidden: string[]): Promise<Message | null> {
  const folded = password.toLowerCase();
  if (await isCommonPassword(folded)) return message('password_common');
  if (resembles(folded, forbidden)) return message('password_like_address');
  return null;
}

/** The length is counted in code points of the normalised form, so that it does not depend on the keyboard. */
function formFault(password: Password): string | null {
  const length = [...password].length;
  if (!isStorable(password)) return zodMessage('not_storable');
  if (length < minLength) return zodMessage('password_too_short', { minimum: minLength });
  if (length > maxLength) return zodMessage('password_too_long', { maximum: maxLength });
  return null;
}

/**
 * The schema of a new password in a request body. It checks the form; `passwordFault` checks the rest. The result is
 * normalised: what checks and hashes the password takes it in no other form.
 */
export const newPasswordField = z
  .string({ error: zodMessage('choose_password') })
  .transform(normalisePassword)
  .superRefine((password, context) => {
    const fault = formFault(password);
    if (fault !== null) context.addIssue(fault);
  });

/**
 * Whether a folded password equals one of the words, or a part of an address among them, with or
 * without digits: "jane.doe@company.example" matches "JaneDoe1985" and "company2026".
 */
function resembles(folded: string, words: string[]): boolean {
  const letters = lettersOf(folded);
  const parts = [...new Set(words.flatMap(partsOf))];
  return parts.some((part) => part === folded || (letters !== '' && lettersOf(part) === letters));
}

/**
 * Returns the word itself or, for an address, the local part with and without its tag, the domain, its
 * parent domains, and the words of all these.
 */
function partsOf(word: string): string[] {
  const folded = foldWord(word);
  const at = folded.lastIndexOf('@');
  if (at < 0) return [folded];

  const local = folded.slice(0, at);
  const domain = domainToUnicode(folded.slice(at + 1)) || folded.slice(at + 1);
  const labels = domain.split('.');
  const domains = labels.flatMap((label, index) => [
    label,
    labels.slice(index).join('.'),
    labels.slice(index, -1).join('.'),
  ]);
  const parts = [folded, local, local.split('+')[0] ?? '', ...domains, ...local.split(separators)];
  return parts.filter((part) => part !== '');
}

const separators = /[.+_\-\s]+/;

/** The word without digits and separators. */
function lettersOf(word: string): string {
  return word.replace(/[\p{Nd}@.+_\-\s]/gu, '');
}

/** Returns the form in which a word is compared with a password in lower case. */
function foldWord(word: string): string {
  return normalisePassword(word).toLowerCase();
}

/**
 * Whether a folded password is among the common ones: zxcvbn-ts's dictionary of leaked passwords
 * (17,950 of eight or more characters) and the additional ones.
 * Loading the dictionary takes 70 ms and happens when the first password is chosen.
 */
async function isCommonPassword(folded: string): Promise<boolean> {
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
