/**
 * Resolves our own modules without file system lookups. Node checks for every import whether the file exists, whether
 * it is a link, and which package.json applies. For twelve hundred files that is a quarter of the time that a start
 * from sources takes. Our imports are complete (`./x.ts`, or a package of this repository), so no lookup is needed, and
 * a missing file fails when it is read.
 */
import { registerHooks } from "node:module";

const PACKAGE = /^@flotilla\/([a-z-]+)$/;
const packages = new URL("../../", import.meta.url);

export function resolveQuickly(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const [, name] = PACKAGE.exec(specifier) ?? [];
      if (name !== undefined) return found(new URL(`${name}/src/index.ts`, packages));
      const isOurs = specifier.startsWith(".") && specifier.endsWith(".ts") && context.parentURL !== undefined;
      return isOurs ? found(new URL(specifier, context.parentURL)) : next(specifier, context);
    },
  });
}

const found = ({ href }: URL): { url: string; format: string; shortCircuit: true } => ({
  url: href,
  format: "module-typescript",
  shortCircuit: true,
});
