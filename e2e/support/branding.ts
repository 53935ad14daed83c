export const name = 'Larch & <b>Sons</b>';

/** The environment variables that brand the pages with a company's name. */
export const branding = {
  SERVICE_NAME: name,
  SERVICE_URL: 'https://app.company.example/',
  SUPPORT_EMAIL: 'help@company.example',
  TERMS_URL: 'https://company.example/terms',
  PRIVACY_URL: 'https://company.example/privacy',
  IDP_NAME: 'Company <ID>',
};
