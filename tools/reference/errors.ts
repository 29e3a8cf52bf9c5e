/** docs/reference/errors.md: every error code in the source, with what happened and what to try. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorCodes } from "./error-codes.ts";
import { code, generatedNote, page, table } from "./markdown.ts";

const SOURCE = fileURLToPath(new URL("../../packages", import.meta.url));

export function readSources(): string[] {
  return globSync("**/*.ts", { cwd: SOURCE, exclude: ["**/*.test.ts"] }).map((file) =>
    readFileSync(join(SOURCE, file), "utf8"),
  );
}

/** Our error codes, sorted: `new FlotillaError("Code", …)`, and error classes whose constructors pass one on. Pure. */
export function codesIn(sources: readonly string[]): string[] {
  const found = sources.flatMap((text) =>
    [
      ...text.matchAll(/\bnew FlotillaError\(\s*"(\w+)"/g),
      ...(/\bextends \w*Error\b/.test(text) ? text.matchAll(/\bsuper\(\s*"([A-Z]\w+)"\s*,/g) : []),
    ].map(([, name = ""]) => name),
  );
  return [...new Set(found)].toSorted();
}

export function renderErrors(): string {
  const codes = codesIn(readSources());
  const nameless = codes.filter((name) => !errorCodes[name]);
  if (nameless.length > 0)
    throw new Error(`tools/reference/error-codes.ts lacks ${nameless.join(", ")}: add what happened and what to try`);
  return page(
    "# Errors",
    generatedNote("the codes in `packages` and the texts in `tools/reference/error-codes.ts`"),
    "Every error of Flotilla's own has a stable code (`FlotillaError.code`). Errors of the Kubernetes API are " +
      "returned as a `Status`; their\nreason (`NotFound`, `Conflict`, `Invalid`, …) is the code.",
    table(
      ["code", "what happened", "what to try"],
      codes.map((name) => [code(name), errorCodes[name]?.happened ?? "", errorCodes[name]?.hint ?? ""]),
    ),
    "Requests for a part of the Kubernetes API that Flotilla does not serve return HTTP 501 with the Status " +
      "reason `NotImplemented`; see\n[compatibility](../compatibility.md).",
  );
}
