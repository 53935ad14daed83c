// Which file may import which. Type imports count. `npm run lint` runs it.

/** The areas of packages/api/src: each may import from those before it, and none from those after it. */
export const areas = [
  'platform',
  'audit',
  'changes',
  'organisations',
  'auth',
  'billing',
  'members',
  'operators',
  'router',
  'http',
];

const api = '^packages/api/src/';
const web = '^apps/web/src/';
/** packages/testing is a package, and no folder of tests. */
const tests = '\\.(test|spec)\\.ts$|(?<!packages)/testing/|sandbox/src/testing\\.ts$';
/** A package by its name, installed or not. */
const npm = (names) => `(^|node_modules/)(${names})(/|$)`;

const areaRules = areas.map((area, at) => ({
  name: `area-${area}`,
  comment: `${area} is below what it imports: the order of the areas is in .dependency-cruiser.mjs.`,
  severity: 'error',
  from: { path: `${api}${area}/`, pathNot: tests },
  to: { path: `${api}(${[...areas.slice(at + 1), 'testing'].join('|')})/|${api}(create-app|job-kinds)\\.ts$` },
}));

/** The service: it creates the App, and answers requests to its API. */
const application = '^apps/server/src/(application\\.ts$|api/)';
const operatorCommands = '^apps/server/src/(operator\\.ts$|commands/)';

/** What handlers may import of packages/api beside the router and the table of errors, and which ones may (docs/decisions/004). */
const openToHandlers = [
  [
    'app\\.ts$',
    `${web}(hooks\\.server\\.ts|lib/server/|lib/branding/branding\\.ts$)|${operatorCommands}|${application}`,
  ],
  ['create-app\\.ts$', `${web}hooks\\.server\\.ts$|${operatorCommands}|${application}`],
  ['platform/config\\.ts$', `${web}lib/server/|^apps/server/src/`],
  ['platform/config-version\\.ts$', '^apps/server/src/'],
  ['platform/durations\\.ts$', web],
  ['platform/log\\.ts$', '^apps/server/src/'],
  ['platform/messages\\.ts$', `${web}lib/server/language/|${operatorCommands}`],
  ['auth/key-format\\.ts$', operatorCommands],
  ['auth/principal\\.ts$', `${web}lib/server/`],
  ['members/keys/', operatorCommands],
  ['auth/sign-in/', `${web}routes/auth/`],
  ['auth/sign-in/return-url\\.ts$', `${web}lib/server/session/return-url\\.ts$`],
  ['billing/', operatorCommands],
  ['operators/', operatorCommands],
  ['auth/verification/', `${web}lib/server/http/open-verification-link\\.ts$`],
  ['router/openapi/document\\.ts$', `${web}routes/api/docs/describe\\.ts$`],
  ['platform/providers/minor-units\\.ts$', `${web}lib/format/money\\.ts$`],
  ['platform/security/client\\.ts$', `${web}lib/server/|^apps/server/src/(canonical-request|http-server|api/.*)\\.ts$`],
];

const handlerRules = openToHandlers.map(([part, who]) => ({
  name: `handler-${part.replace(/[^a-z]+/g, '-').replace(/-ts-$|-$/, '')}`,
  comment: 'Handlers call the router: .dependency-cruiser.mjs says what else this one may import.',
  severity: 'error',
  from: { path: '^apps/(web|server)/src/', pathNot: [tests, who] },
  to: {
    path: `${api}${part}`,
    // A file of a folder may be open to other handlers than the folder is.
    pathNot: openToHandlers.filter(([each]) => each !== part && each.startsWith(part)).map(([each]) => `${api}${each}`),
  },
}));

/** Which packages and apps import a package of ours, beside itself and tests: imports point down. */
const importers = [
  ['embedded-postgres', 'server|bench|toolchain|testing'],
  ['payment-sandbox', 'sandbox|bench|toolchain'],
  ['sandbox', 'bench|toolchain|testing'],
  ['languages', 'api|web'],
  ['api', 'web|server|client|bench|testing'],
  ['client', ''],
  ['web|server', 'bench|release|toolchain|testing'],
  ['bench|release|toolchain', 'bench|release|toolchain'],
  ['testing', ''],
];

const packageRules = importers.map(([names, who]) => ({
  name: `package-${names.replaceAll('|', '-')}`,
  comment:
    'Imports between packages point down, and the service never imports a sandbox: .dependency-cruiser.mjs has the list.',
  severity: 'error',
  from: { path: '^(apps|packages)/', pathNot: [tests, `^(apps|packages)/(${names}|${who || names})/`] },
  to: { path: `^(apps|packages)/(${names})/` },
}));

/** Packages that one place alone imports. */
const keptIn = [
  ['stripe', `${api}platform/providers/payment/|^packages/payment-sandbox/src/`],
  ['nodemailer', `${api}platform/providers/mailer\\.ts$`],
  ['lucia', `${api}auth/sessions/lucia\\.ts$`],
  ['intl-messageformat', '^packages/languages/src/'],
  ['jose', `${api}auth/tokens/`],
  ['oslo', `${api}(auth/sessions|platform/security)/`],
  ['drizzle-orm', api],
  ['postgres', '^packages/(api|bench|embedded-postgres)/src/'],
];

export default {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Files that import each other.',
      severity: 'error',
      from: { pathNot: '^e2e/' },
      to: { circular: true },
    },
    {
      name: 'no-cycle-of-values',
      comment: 'Files of the browser tests that import each other. A type may come from a file above.',
      severity: 'error',
      from: { path: '^e2e/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    ...areaRules,
    {
      name: 'unknown-area',
      comment: 'A folder of packages/api/src is an area.',
      severity: 'error',
      from: { path: `${api}[^/]+/`, pathNot: `${api}(${[...areas, 'testing'].join('|')})/` },
      to: {},
    },
    {
      name: 'router-calls-use-cases',
      comment: 'A procedure calls a use case; it has no query and no provider of its own.',
      severity: 'error',
      from: { path: `${api}router/`, pathNot: tests },
      to: { path: `${api}platform/(db|providers)/` },
    },
    {
      name: 'foreign-json-is-read-by-providers',
      comment: 'Providers read what others send and return types of ours: nothing else knows the form of their JSON.',
      severity: 'error',
      from: { path: '^(apps|packages)/', pathNot: [tests, `${api}platform/providers/`] },
      to: { path: `${api}platform/providers/untrusted-json\\.ts$` },
    },
    {
      name: 'authority-is-checked-once',
      comment:
        "A session and a key make a principal, and the router's builders check its authority. A use case names the " +
        'principal that it needs as a type.',
      severity: 'error',
      from: {
        path: '^(apps|packages)/',
        pathNot: [tests, `${api}(router/trpc|auth/sessions/session|auth/read-key)\\.ts$`],
      },
      to: { path: `${api}auth/principal\\.ts$`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'create-app-is-for-apps',
      comment: 'Only apps and tests make an App.',
      severity: 'error',
      from: { path: api, pathNot: `${tests}|${api}(create-app|bundle)\\.ts$` },
      to: { path: `${api}create-app\\.ts$` },
    },
    {
      name: 'handler',
      comment: 'Handlers import http/, the router and errors; .dependency-cruiser.mjs names the exceptions.',
      severity: 'error',
      from: { path: '^apps/(web|server)/src/', pathNot: tests },
      to: {
        path: api,
        pathNot: `${api}(platform/errors\\.ts$|router/|http/|${openToHandlers.map(([part]) => part).join('|')})`,
      },
    },
    ...handlerRules,
    {
      name: 'server-has-no-router',
      comment: "The process and the operator's commands call use cases, not the router.",
      severity: 'error',
      from: { path: '^apps/server/src/', pathNot: tests },
      to: { path: `${api}router/` },
    },
    ...packageRules,
    ...keptIn.map(([name, place]) => ({
      name: `kept-${name}`,
      comment: `${name} is imported in one place alone.`,
      severity: 'error',
      from: { path: '^(apps|packages)/', pathNot: [place, tests] },
      to: { path: npm(name) },
    })),
    {
      name: 'client-knows-types',
      comment: "The client knows the router's types alone.",
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: tests },
      to: { path: '^(apps|packages)/', pathNot: '^packages/client/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'client-knows-the-router',
      comment: "The client knows the router's types alone.",
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: tests },
      to: { path: '^(apps|packages)/', pathNot: `^packages/client/|${api}router/root\\.ts$` },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(build|dist|\\.svelte-kit)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
