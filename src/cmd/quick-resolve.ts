/**
 * Resolves our own modules without file system lookups. Node checks for every import whether the file exists, whether
 * it is a link, and which package.json applies. For twelve hundred files that is a quarter of the time that a start
 * from sources takes. Our imports are complete (`./x.ts`), so no lookup is needed, and a missing file fails when it is
 * read.
 */
import { registerHooks } from "node:module";

export function resolveQuickly(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isOurs = specifier.startsWith(".") && specifier.endsWith(".ts") && context.parentURL !== undefined;
      if (!isOurs) return next(specifier, context);
      return { url: new URL(specifier, context.parentURL).href, format: "module-typescript", shortCircuit: true };
    },
  });
}
