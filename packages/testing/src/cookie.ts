/** A cookie, in the form that addCookies of Playwright takes. */
export type Cookie = {
  name: string;
  value: string;
  domain: string;
  path: string;
  httpOnly: boolean;
  secure: boolean;
  sameSite: 'Strict' | 'Lax' | 'None';
};

/** Reads a line of the header Set-Cookie, as the service writes it, of an answer of `host`. */
export function readSetCookie(line: string, host: string): Cookie {
  const [pair = '', ...attributes] = line.split('; ');
  const at = pair.indexOf('=');
  const given = new Map(
    attributes.map((attribute) => {
      const [name = '', value = ''] = attribute.split('=');
      return [name.toLowerCase(), value] as const;
    }),
  );
  return {
    name: pair.slice(0, at),
    value: pair.slice(at + 1),
    domain: given.get('domain') ?? host,
    path: given.get('path') ?? '/',
    httpOnly: given.has('httponly'),
    secure: given.has('secure'),
    sameSite: 'Lax',
  };
}
