/** 简体中文. */
export const zh: Readonly<Record<string, string>> = {};
