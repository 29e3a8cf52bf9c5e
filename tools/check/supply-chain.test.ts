import { expect, test } from "vitest";
import { checkSupplyChain, readSupplyChain } from "./supply-chain.ts";

test("reports packages without a checksum, with another source or an install script, and versions that are not exact", () => {
  const lock = {
    packages: {
      "": {},
      "packages/base": {},
      "node_modules/@flotilla/base": { link: true },
      "node_modules/a": { integrity: "sha512-x" },
      "node_modules/b": {},
      "node_modules/d": { integrity: "sha512-x", resolved: "git+ssh://example.com/d.git" },
      "node_modules/a/node_modules/c": { integrity: "sha512-x", hasInstallScript: true },
    },
  };

  expect(checkSupplyChain(lock, { dependencies: { a: "1.2.3", b: "^1.0.0" } })).toEqual([
    "package-lock.json: node_modules/b has no checksum; run 'npm install' to record it",
    "package-lock.json: node_modules/d names its source (git+ssh://example.com/d.git); packages come from the registry",
    "package-lock.json: node_modules/a/node_modules/c runs a script when it is installed; choose a package that does not",
    "package.json: b has the range ^1.0.0; name one version",
  ]);
});

test("the repository's own lock file has no findings", () => {
  expect(readSupplyChain()).toEqual([]);
});
