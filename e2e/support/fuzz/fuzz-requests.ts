import { type RawRequest, send } from '../raw-request.ts';
import type { Service } from '../service.ts';
import { eachField } from './fuzz-values.ts';

/** The headers that authenticate a caller. */
export type Caller = Record<string, string>;

type Request = RawRequest & { path: string };

/** The request that sends this content for a caller. */
export type Write = (content: string, caller: Caller) => Request;

/** @throws Error with the request and its answer if that is a failure of the service. */
export async function expectNoFailure(service: Service, { path, ...sent }: Request): Promise<void> {
  const { status, text: answer } = await send(service, path, sent);
  // Playwright records each `expect` as a step of the test: here there are ten thousand.
  if (status >= 500) {
    const body = JSON.stringify(sent.body)?.slice(0, 200);
    throw new Error(`${sent.method} ${path} ${body}: ${status} ${answer.slice(0, 200)}`);
  }
}

/** Sends the content for every caller, and expects no failure. */
export async function sendForEach(service: Service, callers: Caller[], content: string, write: Write): Promise<void> {
  await Promise.all(callers.map((caller) => expectNoFailure(service, write(content, caller))));
}

/**
 * Sends each hostile value of each field for the callers whose input the service reads, and expects no failure. The
 * service refuses the other callers before it reads their input.
 */
export async function sendEachField(
  service: Service,
  callers: Caller[],
  fields: string[],
  write: Write,
): Promise<void> {
  if (fields.length === 0) return;
  const readers = await findReaders(service, callers, write);
  for (const content of eachField(fields)) await sendForEach(service, readers, content, write);
}

/** Returns the callers whose list, which is no valid input, is not answered by 401 or 403. */
async function findReaders(service: Service, callers: Caller[], write: Write): Promise<Caller[]> {
  const readers: Caller[] = [];
  for (const caller of callers) {
    const { path, ...sent } = write('[]', caller);
    const { status } = await send(service, path, sent);
    if (status !== 401 && status !== 403) readers.push(caller);
  }
  if (readers.length === 0) throw new Error(`No caller's input is read: ${write('[]', {}).path}`);
  return readers;
}
