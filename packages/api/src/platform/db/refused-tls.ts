import net from 'node:net';
import type { Sql } from 'postgres';

const timeoutMilliseconds = 2_000;
/** The message SSLRequest (PostgreSQL's protocol, section "Message Formats"). Its answer is S or N. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/**
 * Returns a sentence if a connection failed because DATABASE_URL asks for TLS and the server has none.
 * The driver starts TLS although the server refused it, so its error is that of a cut connection.
 */
export async function explainRefusedTls({ options }: Sql, error: unknown): Promise<string | null> {
  const wasCut = error instanceof Error && /before secure TLS connection/.test(messagesOf(error));
  if (!wasCut || !options.ssl || options.ssl === 'prefer') return null;

  const answers = await Promise.all(options.host.map((host, at) => answerOf(host, options.port[at] ?? 5432)));
  if (!answers.includes('N')) return null;
  return 'The database has no TLS, and DATABASE_URL asks for it: set ssl = on in postgresql.conf, or remove sslmode from DATABASE_URL.';
}

function messagesOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} ${messagesOf(error.cause)}` : error.message;
}

/** Returns the server's answer; null if there is none in time. */
function answerOf(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: timeoutMilliseconds }, () => socket.write(sslRequest));
    function end(answer: string | null) {
      socket.destroy();
      resolve(answer);
    }
    socket.once('data', (bytes) => end(bytes.toString('latin1', 0, 1)));
    socket.once('timeout', () => end(null));
    socket.once('error', () => end(null));
    socket.once('close', () => end(null));
  });
}
