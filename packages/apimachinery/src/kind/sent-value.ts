/**
 * A value as a client may have sent it: its fields have the right types, because decoding checked them, but required
 * fields may be missing. Rules take this type, so that they do not crash on the fields they are to report.
 */
export type Sent<T> = T extends readonly (infer E)[]
  ? readonly Sent<E>[]
  : T extends object
    ? string extends keyof T
      ? { readonly [K in keyof T]: Sent<T[K]> }
      : { readonly [K in keyof T]?: Sent<T[K]> | undefined }
    : T;
