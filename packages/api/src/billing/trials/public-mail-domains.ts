/** Domains where anybody gets an e-mail address: two people of one of them are no company. */
export const publicMailDomains: ReadonlySet<string> = new Set(
  `
  126.com 163.com aol.com arcor.de bk.ru bluewin.ch btinternet.com comcast.net duck.com email.cz fastmail.com
  fastmail.fm foxmail.com free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.fr gmx.net googlemail.com
  hey.com hotmail.be hotmail.co.uk hotmail.com hotmail.de hotmail.es hotmail.fr hotmail.it hotmail.nl icloud.com
  inbox.com inbox.ru interia.pl kpnmail.nl laposte.net libero.it list.ru live.co.uk live.com live.de live.fr live.nl
  mac.com mail.com mail.de mail.ru mailbox.org me.com msn.com naver.com o2.pl online.de onet.pl orange.fr outlook.at
  outlook.com outlook.de outlook.es outlook.fr outlook.it pm.me posteo.de posteo.net proton.me protonmail.com
  protonmail.ch qq.com rambler.ru rediffmail.com seznam.cz sfr.fr sina.com sky.com t-online.de tiscali.it tuta.com
  tuta.io tutanota.com ukr.net verizon.net virgilio.it wanadoo.fr web.de wp.pl xs4all.nl yahoo.ca yahoo.co.in
  yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru ymail.com
  zoho.com
  `
    .trim()
    .split(/\s+/),
);
