/** The answer of an endpoint; without one `ok` is false and the body is empty. */
type Answer = { ok: boolean; body: Record<string, unknown> & { code?: string } };

/** Posts to an endpoint of this service from a page's script. Never throws: without an answer there is none to show. */
export async function postJson(path: string, body: object = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null);
  return { ok: response?.ok ?? false, body: (await response?.json().catch(() => null)) ?? {} };
}
