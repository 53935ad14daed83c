// Written by `npm run languages` from the files of the languages.

/** The texts of a folder, for the browser. */
export const onDemand = {
  en: {
    app: () => import('./en/app.ts'),
    operator: () => import('./en/operator.ts'),
    shared: () => import('./en/shared.ts'),
    'sign-in': () => import('./en/sign-in.ts'),
  },
  de: {
    app: () => import('./de/app.ts'),
    operator: () => import('./de/operator.ts'),
    shared: () => import('./de/shared.ts'),
    'sign-in': () => import('./de/sign-in.ts'),
  },
  fr: {
    app: () => import('./fr/app.ts'),
    operator: () => import('./fr/operator.ts'),
    shared: () => import('./fr/shared.ts'),
    'sign-in': () => import('./fr/sign-in.ts'),
  },
};
