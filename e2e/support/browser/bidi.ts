/** A connection by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which Firefox speaks without a driver. */
export interface BidiConnection {
  /** Sends a command. @throws Error with the browser's message, if the command fails. */
  send<Result>(method: string, params: object): Promise<Result>;
  close(): void;
}

type Message = { type: 'success' | 'error' | 'event'; id?: number; result?: unknown; error?: string; message?: string };
type PendingCommand = { resolve: (result: unknown) => void; reject: (error: Error) => void };

export async function connectBidi(url: string): Promise<BidiConnection> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error(`No connection to ${url}.`)), { once: true });
  });

  const waiting = new Map<number, PendingCommand>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    const caller = waiting.get(message.id ?? -1);
    if (caller === undefined) return;

    waiting.delete(message.id ?? -1);
    if (message.type === 'success') caller.resolve(message.result);
    else caller.reject(new Error(`${message.error}: ${message.message}`));
  });

  let last = 0;
  return {
    send<Result>(method: string, params: object): Promise<Result> {
      last += 1;
      const id = last;
      const answered = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      socket.send(JSON.stringify({ id, method, params }));
      return answered as Promise<Result>;
    },
    close: () => socket.close(),
  };
}
