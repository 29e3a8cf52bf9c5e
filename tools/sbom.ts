/**
 * `npm run sbom`: writes `dist/sbom.json`, the list of the packages that ours contains or installs (CycloneDX), which npm
 * publishes with it. Time and serial number are left out: the same lock file gives the same list.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const text = execFileSync("npm", ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only"], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
});
const { serialNumber: _serial, metadata, ...list } = JSON.parse(text) as { serialNumber: string; metadata: object };
const { timestamp: _time, ...described } = metadata as { timestamp: string };
writeFileSync("dist/sbom.json", `${JSON.stringify({ ...list, metadata: described }, null, 2)}\n`);
