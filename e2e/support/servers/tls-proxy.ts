import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { listenLocally } from './listen-locally.ts';

/** Whether openssl is installed, which creates the certificate. */
export function hasOpenssl(): boolean {
  return spawnSync('openssl', ['version']).status === 0;
}

/** Creates a short-lived certificate for a domain and its subdomains. */
export function makeCertificate(domain: string): { key: Buffer; cert: Buffer } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-tls-'));
  const [key, cert] = [path.join(folder, 'key'), path.join(folder, 'cert')];
  const names = `subjectAltName=DNS:${domain},DNS:*.${domain}`;
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${domain}`];
  const made = spawnSync('openssl', [...args, '-addext', names, '-keyout', key, '-out', cert]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  const both = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
  fs.rmSync(folder, { recursive: true });
  return both;
}

/** Starts a reverse proxy that terminates TLS and passes requests on by http with their Host header. */
export async function startTlsProxy(
  certificate: { key: Buffer; cert: Buffer },
  upstreamOf: (host: string) => { host: string; port: number } | null,
): Promise<{ port: number; stop: () => Promise<void> }> {
  const server = https.createServer(certificate, (request, response) => {
    const upstream = upstreamOf((request.headers.host ?? '').replace(/:\d+$/, ''));
    if (upstream === null) return response.writeHead(421).end();

    const forwarded = [request.headers['x-forwarded-for'], request.socket.remoteAddress].filter(Boolean).join(', ');
    const headers = { ...request.headers, 'x-forwarded-for': forwarded, 'x-forwarded-proto': 'https' };
    const { method, url: requestPath } = request;
    const passed = http.request({ ...upstream, method, path: requestPath, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    request.pipe(passed);
  });
  const { port, stop } = await listenLocally(server);

  return {
    port,
    stop,
  };
}
