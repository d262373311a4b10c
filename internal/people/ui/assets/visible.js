// What internal/base/escape does on a terminal: text that others wrote is made visible. The class of
// hidden characters is generated from it; tests compare the two for every character.
const hidden = /[\u{0}-\u{1f}\u{7f}-\u{a0}\u{ad}\u{34f}\u{61c}\u{115f}-\u{1160}\u{1680}\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{2000}-\u{200f}\u{2028}-\u{202f}\u{205f}-\u{206f}\u{2800}\u{3000}\u{3164}\u{fe00}-\u{fe0f}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
const styled = /[\uff21-\uff5a\u{1d400}-\u{1d7ff}\u24b6-\u24e9\u2100-\u214f\u{1f110}-\u{1f189}]/u;
const alphabets = [/\p{sc=Latin}/u, /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}]/u,
  /[\p{sc=Grek}\p{sc=Copt}]/u, /\p{sc=Cyrl}/u, /\p{sc=Armn}/u, /\p{sc=Cher}/u, /./u, styled];
const alphabet = (c) => (styled.test(c) ? 7 : !/\p{L}/u.test(c) || (c > '\x7f' && /[\p{sc=Zyyy}\p{sc=Zinh}]/u.test(c))
  ? -1 : alphabets.findIndex((a) => a.test(c)));
const words = new RegExp(`\\\\(?:u[0-9a-fA-F]{4}|[^\\\\])?|(?:(?!${hidden.source})(?:[\\p{L}\\p{M}\\p{N}]|${
    styled.source}))+`, 'gsu');

const spelled = (c) => [...Array(c.length).keys()].map((i) => '\\u' + c.charCodeAt(i).toString(16).padStart(4, '0'))
  .join('');

// odd spells out the letters of a word whose alphabet does not belong.
function odd(word) {
  if (word[0] === '\\' || !/[^\0-\x7f]/.test(word)) return word;
  const count = Array(8).fill(0), letters = [...word];
  for (const c of letters) count[alphabet(c)]++;
  const kinds = count.filter(Boolean).length;
  if (kinds < 2 || (kinds === 2 && count[0] && count[1])) return word;
  const base = count[0] ? 0 : count.indexOf(Math.max(...count));
  return letters.map((c) => {
    const a = alphabet(c);
    return a < 0 || a === base || (base === 0 && a === 1) ? c : spelled(c);
  }).join('');
}

export function visible(text) {
  if (!/[^\n\t\x20-\x7e]/.test(text)) return text;
  return text.toWellFormed().replace(words, odd)
    .replace(new RegExp(hidden, 'gu'), (c) => (c === '\n' || c === '\t' ? c : spelled(c)));
}

// withoutColours is what a program printed without the sequences of a terminal.
export const withoutColours = (text) =>
  text.replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\?)?|\x1b[ -/]*[0-~]?/g, '')
  .replace(/^[^\n]*\r(?=[^\r\n]*\S)/gm, '').replace(/\r$/gm, '');
