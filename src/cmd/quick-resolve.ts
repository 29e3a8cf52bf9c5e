/**
 * Finds our own modules without looking for them. Node asks the file system about every import: whether the file is
 * there, whether it is a link, which package.json speaks for it. For twelve hundred files that is a quarter of the time
 * that a start from sources takes. Ours are named in full (`./x.ts`), so the address says it all, and one that does not
 * exist fails when it is read.
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
