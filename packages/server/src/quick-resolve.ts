/**
 * Resolves our own modules without file system lookups. Node checks for every import whether the file exists, whether
 * it is a link, and which package.json applies. That is a quarter of the time that a start from sources takes, and a
 * twentieth of a built command's. Our imports are complete (`./x.ts`, a package of this repository, or a built
 * `./x.js`), so no lookup is needed, and a missing file fails when it is read.
 */
import { registerHooks } from "node:module";

const PACKAGE = /^@flotilla\/([a-z-]+)$/;
/** The folder `packages`, or `dist` of a built package. */
const packages = new URL("../../", import.meta.url).href;

export function resolveQuickly(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const [, name] = PACKAGE.exec(specifier) ?? [];
      if (name !== undefined) return found(`${packages}${name}/src/index.ts`, "module-typescript");
      const { parentURL } = context;
      if (parentURL !== undefined && specifier.startsWith(".")) {
        if (specifier.endsWith(".ts")) return found(beside(parentURL, specifier), "module-typescript");
        // Others' modules may be of another format.
        if (specifier.endsWith(".js") && parentURL.startsWith(packages))
          return found(beside(parentURL, specifier), "module");
      }
      return next(specifier, context);
    },
  });
}

const found = (url: string, format: string): { url: string; format: string; shortCircuit: true } => ({
  url,
  format,
  shortCircuit: true,
});

/** Joins as `new URL` does, at a fraction of its cost: a start resolves ten thousand imports. */
function beside(parentUrl: string, specifier: string): string {
  let folder = parentUrl.slice(0, parentUrl.lastIndexOf("/"));
  let path = specifier;
  for (;;) {
    if (path.startsWith("./")) path = path.slice("./".length);
    else if (path.startsWith("../")) {
      path = path.slice("../".length);
      folder = folder.slice(0, folder.lastIndexOf("/"));
    } else return `${folder}/${path}`;
  }
}
