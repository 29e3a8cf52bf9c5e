/** The entry point of `bin/flotilla` in a checkout that was built: starts the build if it is that of these sources, and the sources if not. */
import { fileURLToPath } from "node:url";
import { isCurrent } from "./built-from.ts";

const root = new URL("../../../", import.meta.url);
const built = isCurrent(fileURLToPath(new URL("dist/built-from.json", root)), fileURLToPath(root));
await import(built ? new URL("dist/server/main.js", root).href : "./main.ts");
