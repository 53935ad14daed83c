/**
 * Signs in at the sandbox's identity provider, starting at its consent screen, with requests that keep
 * cookies as a browser does.
 *
 * @returns the URL of the service to which the provider redirects.
 */
export async function chooseAtProvider(consentUrl: string, backTo: string, email: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = consentUrl;
  let form: URLSearchParams | null = null;
  for (let hop = 0; hop < 10; hop++) {
    const answer: Response = await fetch(url, {
      redirect: 'manual',
      method: form === null ? 'GET' : 'POST',
      body: form,
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      cookies.set(name, value);
    }
    const next = answer.headers.get('location');
    const page = next === null ? await answer.text() : '';
    const chooser = /action="(\/idp\/interaction\/[^"/]+\/person)"/.exec(page)?.[1];
    form = chooser === undefined ? null : new URLSearchParams({ email, email_verified: 'true' });
    url = new URL(chooser ?? next ?? '', url).href;
    if (url.startsWith(backTo)) return new URL(url);
  }
  throw new Error(`The identity provider does not lead back to ${backTo}.`);
}
