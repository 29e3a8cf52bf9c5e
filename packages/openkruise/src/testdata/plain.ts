/** Normalizes recorded values for comparison. Only for tests and `npm run golden`. */

/** Fields that Go serializes even if unset. */
const ALWAYS_WRITTEN = ["resources", "status", "securityContext"];

/** As JSON, without such empty fields. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
      return Object.fromEntries(Object.entries(item).filter(([key, part]) => !(ALWAYS_WRITTEN.includes(key) && typeof part === "object" && part !== null && Object.keys(part as object).length === 0)));
    }),
  );
}
