/**
 * `npm run audit`: known vulnerabilities of what the package ships (`npm audit`). Exits 1 for high and critical ones. Not
 * every registry answers the question; that is printed, and is not a failure.
 */
import { spawnSync } from "node:child_process";

interface Report {
  metadata?: { vulnerabilities: Record<string, number> };
  message?: string;
  error?: { summary?: string };
}

const { stdout } = spawnSync("npm", ["audit", "--json", "--omit=dev"], { encoding: "utf8" });
const report = JSON.parse(stdout || "{}") as Report;
const counts = report.metadata?.vulnerabilities;
if (!counts) {
  const reason = report.error?.summary || report.message || "no answer";
  process.stdout.write(`skipped: the registry does not answer npm audit (${reason.split("\n")[0]})\n`);
} else {
  const { high = 0, critical = 0, total = 0 } = counts;
  process.stdout.write(`${total} known vulnerabilities, ${high} high, ${critical} critical\n`);
  process.exitCode = high + critical > 0 ? 1 : 0;
}
