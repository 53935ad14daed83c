import { texts } from '#lib/language/texts.ts';

export const roleTexts = texts({
  en: {
    names: { owner: 'Owner', admin: 'Admin', member: 'Member', viewer: 'Viewer' },
    withArticle: { owner: 'an owner', admin: 'an admin', member: 'a member', viewer: 'a viewer' },
    as: { owner: 'as an owner', admin: 'as an admin', member: 'as a member', viewer: 'as a viewer' },
    may: {
      owner: 'Owners manage members, owners and the plan.',
      admin: 'Admins manage members and the plan.',
      member: 'Members can edit.',
      viewer: 'Viewers can only look.',
    },
  },
  de: {
    names: { owner: 'Inhaber/-in', admin: 'Admin', member: 'Mitglied', viewer: 'Leser/-in' },
    withArticle: { owner: 'Inhaber/-in', admin: 'Admin', member: 'Mitglied', viewer: 'Leser/-in' },
    as: { owner: 'als Inhaber/-in', admin: 'als Admin', member: 'als Mitglied', viewer: 'als Leser/-in' },
    may: {
      owner: 'Inhaber/-innen verwalten Mitglieder, weitere Inhaber/-innen und den Tarif.',
      admin: 'Admins verwalten Mitglieder und den Tarif.',
      member: 'Mitglieder können bearbeiten.',
      viewer: 'Leser/-innen können nur ansehen.',
    },
  },
});
