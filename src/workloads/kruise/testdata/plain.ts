/** Recorded values in a form in which they can be compared. For tests and for `npm run golden` alone. */

/** Fields that Go writes although nobody set them. */
const ALWAYS_WRITTEN = ["resources", "status", "securityContext"];

/** As JSON has it, without empty fields of that sort. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) => {
      if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
      return Object.fromEntries(Object.entries(item).filter(([key, part]) => !(ALWAYS_WRITTEN.includes(key) && typeof part === "object" && part !== null && Object.keys(part as object).length === 0)));
    }),
  );
}
