import { freePort } from '@gatehouse/api/testing/free-ports';
import { type Program, runProgram } from '@gatehouse/embedded-postgres/testing/program';
import { afterEach, beforeEach, expect } from 'vitest';

/**
 * Serves the stand-in by a process of its own during each test, with the last address of X-Forwarded-For as the
 * client's. Returns the process and its port.
 */
export function useStandIn(): { readonly port: number; readonly program: Program } {
  let port: number;
  let program: Program;
  beforeEach(async () => {
    port = await freePort();
    program = runProgram(new URL('serve-stand-in.ts', import.meta.url), [], {
      PORT: String(port),
      LOG_FORMAT: 'json',
      TRUSTED_PROXIES: '1',
      // The stand-in does not connect to it.
      DATABASE_URL: 'postgres://localhost/none',
    });
    await program.prints('Serving on');
  });
  afterEach(async () => {
    program.child.kill('SIGTERM');
    expect((await program.ended).code).toBe(0);
  });

  return {
    get port() {
      return port;
    },
    get program() {
      return program;
    },
  };
}
