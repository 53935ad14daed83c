import { test } from '@playwright/test';
import { testProxy } from '../support/guarded.ts';
import { hasNginx, readmesServer, startNginx } from '../support/nginx.ts';

test.skip(!hasNginx(), 'There is no nginx with auth_request on this machine.');

testProxy('nginx', (at) => startNginx(at.port, readmesServer(at)));
