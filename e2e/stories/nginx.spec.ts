import { testProxy } from '../support/servers/guarded.ts';
import { documentedServer, hasNginx, startNginx } from '../support/servers/nginx.ts';
import { test } from '../support/service.ts';

test.skip(!hasNginx(), 'There is no nginx with auth_request on this machine.');

testProxy('nginx', (at) => startNginx(at.port, documentedServer(at)));
