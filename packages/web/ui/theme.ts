/** Light or dark as the system says, or as the reader chose. */
export type Theme = "system" | "light" | "dark";

const KEY = "flotilla.theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function currentTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(): void {
  const theme = currentTheme();
  document.documentElement.dataset["theme"] = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  for (const listener of listeners) listener();
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme();
}

/** For canvases, which do not follow style sheets by themselves. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

dark.addEventListener("change", applyTheme);
