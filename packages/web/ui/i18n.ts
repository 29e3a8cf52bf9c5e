/** Texts in the language of the reader. The English text is the key; others are loaded when they are chosen. */

export const LANGUAGES = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof LANGUAGES;

const KEY = "flotilla.language";
let texts: Readonly<Record<string, string>> = {};
let current: Language = "en";

export const language = (): Language => current;

/** `t("{count} members", { count: 3 })`. A test checks that every text has a translation. */
export function t(text: string, values?: Readonly<Record<string, string | number>>): string {
  const template = texts[text] ?? text;
  return values === undefined
    ? template
    : template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export async function loadLanguage(): Promise<void> {
  const stored = localStorage.getItem(KEY) ?? navigator.language;
  await changeLanguage(stored.startsWith("zh") ? "zh" : "en");
}

async function changeLanguage(next: Language): Promise<void> {
  texts = next === "zh" ? (await import("./zh.ts")).zh : {};
  current = next;
  document.documentElement.lang = next === "zh" ? "zh-CN" : "en";
}

export async function chooseLanguage(next: Language): Promise<void> {
  localStorage.setItem(KEY, next);
  await changeLanguage(next);
}

export const formatNumber = (value: number): string => value.toLocaleString(current === "zh" ? "zh-CN" : "en");
