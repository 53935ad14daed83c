import type { App } from '../../app.ts';
import { countOldSecrets } from '../../auth/encrypt-anew.ts';
import { identityRedirectUri } from '../../platform/links.ts';
import { listOperatorsWithoutFactor } from '../list-operators-without-factor.ts';
import { type Finding, note, reasonOf, right, wrong } from './finding.ts';

const timeoutMilliseconds = 5000;

/** Checks the canonical base URL, and whether the service answers there. */
export async function checkBaseUrl({ config: { publicBaseUrl: base } }: App): Promise<Finding[]> {
  if (base === null) {
    const sentence =
      'PUBLIC_BASE_URL is not set, so no link and no return address can be made. Set it to the https address that people use.';
    return [wrong('Base URL', sentence)];
  }

  try {
    const { status } = await request(`${base}/healthz`);
    if (status === 200) return [right('Base URL', `${base} is answered.`)];
    return [wrong('Base URL', `${base}/healthz answers ${status}. Start the service, or let the proxy lead to it.`)];
  } catch (error) {
    const sentence = `Nothing answers at ${base} (${reasonOf(error)}). Start the service, or correct PUBLIC_BASE_URL, DNS or the proxy.`;
    return [wrong('Base URL', sentence)];
  }
}

/** Checks the flags of cookies. Requests the start of a sign-in: its response has both a cookie and the redirect URI. */
export async function checkCookies(app: App): Promise<Finding[]> {
  const { publicBaseUrl: base } = app.config;
  if (base === null) return [];

  const secure = base.startsWith('https:');
  const overHttp = 'Cookies go over http, which is for this machine alone.';
  if (app.idp === null) {
    return [secure ? right('Cookies', 'They are named __Host- and go over https alone.') : note('Cookies', overHttp)];
  }

  const response = await request(`${base}/auth/idp/start`).catch(() => null);
  if (response === null) return [note('Cookies', 'They could not be checked, because the service does not answer.')];

  const findings: Finding[] = [];
  const location = response.headers.get('location') ?? '';
  const redirectUri = URL.canParse(location) ? new URL(location).searchParams.get('redirect_uri') : null;
  if (redirectUri !== identityRedirectUri(app.config)) {
    const sentence = `${base}/auth/idp/start does not send ${identityRedirectUri(app.config)}. Run the service with the same configuration as this command, and see its log.`;
    findings.push(wrong('Redirect address in use', sentence));
  }

  const [cookie = ''] = response.headers.getSetCookie().filter((each) => each.includes('attempt='));
  const flags = cookie.toLowerCase();
  const safe = flags.includes('httponly') && flags.includes('samesite=lax');
  if (redirectUri === null) return findings;
  if (!safe || (secure && !(cookie.startsWith('__Host-') && flags.includes('secure')))) {
    const sentence =
      'The answer’s cookie lacks __Host-, Secure, HttpOnly or SameSite. Let no proxy rewrite Set-Cookie.';
    return [...findings, wrong('Cookies', sentence)];
  }
  return [
    ...findings,
    secure ? right('Cookies', '__Host-, Secure, HttpOnly and SameSite arrive.') : note('Cookies', overHttp),
  ];
}

function request(url: string): Promise<Response> {
  return fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMilliseconds) });
}

/** Checks whether the mail server accepts a connection and our credentials. Sends no mail. */
export async function checkMail({ mail, config }: App): Promise<Finding[]> {
  const about = 'Mail server';
  if (!mail.on) return [wrong(about, 'SMTP_URL is not set: no verification mail leaves. Set it to your mail server.')];

  try {
    await mail.check();
    return [right(about, `It answers; mails come from ${config.mailFrom}.`)];
  } catch (error) {
    const sentence = `It cannot be used (${reasonOf(error)}). Correct SMTP_URL, its user and password, or let the network through.`;
    return [wrong(about, sentence)];
  }
}

/** Checks whether SECRET_KEY is set, and what keys that are no longer the first still hold. */
export async function checkSecretKey(app: App): Promise<Finding[]> {
  const about = 'Encryption';
  const { secretKeys, publicBaseUrl } = app.config;
  // That the database does not answer is another check's finding.
  const { older, lost } = await countOldSecrets(app).catch(() => ({ older: 0, lost: 0 }));
  if (lost > 0) {
    const sentence = `${lost} secrets in the database cannot be decrypted. Add the key that encrypted them to SECRET_KEY, after the first one.`;
    return [wrong(about, sentence)];
  }
  if (secretKeys.length === 0) {
    const sentence =
      'SECRET_KEY is not set: authenticator apps are not offered, and keys in the database are not encrypted.';
    return [publicBaseUrl?.startsWith('https:') ? wrong(about, sentence) : note(about, sentence)];
  }
  if (older > 0) {
    return [
      note(about, `${older} secrets are still encrypted by an older key of SECRET_KEY. Keep it until there are none.`),
    ];
  }
  const rolled = secretKeys.length > 1 ? ' The older keys of SECRET_KEY hold nothing any more and can be removed.' : '';
  return [right(about, `Secrets in the database are encrypted by SECRET_KEY.${rolled}`)];
}

const maxNamed = 10;

/** Checks whether every operator has a second factor that can be used. Without one a password opens the console. */
export async function checkOperators(app: App): Promise<Finding[]> {
  const about = 'Operators';
  // That the database does not answer is another check's finding.
  const without = await listOperatorsWithoutFactor(app).catch(() => null);
  if (without === null) return [];
  if (without.length === 0) return [right(about, 'Each has a second factor, or there is none.')];

  const named = without.slice(0, maxNamed).map(({ email }) => email);
  const more = without.length > maxNamed ? ` and ${without.length - maxNamed} more` : '';
  const who = `${named.join(', ')}${more} ${without.length === 1 ? 'has' : 'have'} no second factor that can be used.`;
  if (app.config.secondFactor === 'none') {
    return [note(about, `${who} SECOND_FACTOR asks them for none.`)];
  }
  return [wrong(about, `${who} Let them set one up; after seven days without one grant gives the mark's power back.`)];
}
