/**
 * How a client without credentials obtains them with stock tools: kubectl, karmadactl, and the account whose tokens
 * clusteradm hands out. Runs where $REAL_BIN names a directory with stock kubectl and karmadactl.
 */
import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeCertificateRequest } from "@flotilla/apimachinery";
import { temporaryDirectory, up } from "../../programs/flotilla-process.ts";
import type { Up } from "../../programs/flotilla-process.ts";
import { findPrograms } from "../../programs/real-programs.ts";
import { eventually } from "../../programs/api-servers.ts";

const run = promisify(execFile);
const LIMIT_MS = 120_000;
const folder = findPrograms("certificates with stock tools", "kubectl", "karmadactl");

describe.skipIf(folder === undefined)("certificates with stock tools", { timeout: LIMIT_MS }, () => {
  const data = temporaryDirectory();
  let fleet: Up;
  beforeAll(async () => {
    fleet = await up(data.path, "--members", "1", "--nodes", "1", "--start-ms", "0", "--ephemeral");
  }, LIMIT_MS);
  afterAll(async () => {
    await fleet?.stop("SIGTERM");
    data.remove();
  }, LIMIT_MS);

  const tool = async (name: "kubectl" | "karmadactl", ...args: string[]): Promise<string> =>
    (await run(join(folder ?? "", name), args, { timeout: LIMIT_MS / 2 })).stdout;
  const kubectl = (...args: string[]): Promise<string> =>
    tool("kubectl", "--kubeconfig", fleet.kubeconfig("hub"), ...args);
  const karmadactl = (...args: string[]): Promise<string> =>
    tool("karmadactl", ...args, "--kubeconfig", fleet.kubeconfig("hub"));
  /** The user info that the hub returns for these credentials alone. */
  const whoIs = async (...credentials: string[]): Promise<{ username: string; groups: string[] }> => {
    const ca = join(data.path, "ca.crt");
    writeFileSync(
      ca,
      Buffer.from(
        await kubectl("config", "view", "--raw", "-o", "jsonpath={.clusters[0].cluster.certificate-authority-data}"),
        "base64",
      ),
    );
    const review = await tool(
      "kubectl",
      "--kubeconfig",
      "/dev/null",
      "--server",
      fleet.url,
      "--certificate-authority",
      ca,
      ...credentials,
      "auth",
      "whoami",
      "-o",
      "json",
    );
    return (JSON.parse(review) as { status: { userInfo: { username: string; groups: string[] } } }).status.userInfo;
  };

  test("a user requests a certificate, kubectl approves it, and it authenticates the requested user", async () => {
    const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const [file, cert, key] = ["jane.json", "jane.crt", "jane.key"].map((name) => join(data.path, name)) as [
      string,
      string,
      string,
    ];
    const request = Buffer.from(writeCertificateRequest({ subject: { O: ["dev"], CN: ["jane"] }, ...keys })).toString(
      "base64",
    );
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: "jane" },
        spec: {
          request,
          signerName: "kubernetes.io/kube-apiserver-client",
          usages: ["client auth"],
          expirationSeconds: 3600,
        },
      }),
    );
    writeFileSync(key, keys.privateKey.export({ type: "pkcs8", format: "pem" }));

    await kubectl("create", "-f", file);
    await kubectl("certificate", "approve", "jane");
    const certificate = await eventually(
      "the certificate",
      () => kubectl("get", "csr", "jane", "-o", "jsonpath={.status.certificate}"),
      (text) => text !== "",
    );
    writeFileSync(cert, Buffer.from(certificate, "base64"));

    expect(await whoIs("--client-certificate", cert, "--client-key", key)).toMatchObject({
      username: "jane",
      groups: ["dev", "system:authenticated"],
    });
    expect(await kubectl("get", "csr", "jane")).toMatch(
      /^NAME +AGE +SIGNERNAME +REQUESTOR +REQUESTEDDURATION +CONDITION\njane +\S+ +kubernetes\.io\/kube-apiserver-client +admin +60m +Approved,Issued\n$/,
    );
  });

  test("karmadactl creates, lists and deletes tokens, and registers a cluster with one after an approval", async () => {
    const command = await karmadactl("token", "create", "--print-register-command");
    const [, token = ""] = /--token (\S+)/.exec(command) ?? [];
    const [hash = ""] = /sha256:[0-9a-f]+/.exec(command) ?? [];
    expect(await karmadactl("token", "list")).toContain(token);

    const registered = tool(
      "karmadactl",
      "register",
      new URL(fleet.url).host,
      "--token",
      token,
      "--discovery-token-ca-cert-hash",
      hash,
      "--kubeconfig",
      fleet.kubeconfig("member1"),
      "--cluster-name",
      "edge",
      "--enable-cert-rotation",
      "--discovery-timeout",
      "30s",
    );
    const requests = await eventually(
      "karmadactl waits for an approval",
      () => kubectl("get", "csr", "-o", "name"),
      (names) => names.includes("agent-rbac-generator-edge"),
    );
    const [generator = ""] = /agent-rbac-generator-edge\S*/.exec(requests) ?? [];
    await kubectl("certificate", "approve", generator);

    expect(await registered).toContain("cluster(edge) is joined successfully");
    expect(await kubectl("get", "csr", "-o", "name")).not.toContain("agent-rbac-generator");
    expect(
      await kubectl("get", "role", "system:karmada:edge:agent-work", "-n", "karmada-es-edge", "-o", "name"),
    ).toContain("agent-work");
    await karmadactl("token", "delete", token);
    await expect(whoIs("--token", token)).rejects.toThrow(/Unauthorized|must be logged in/);
  });

  test("the bootstrap service account gets a one-hour token and the permissions of OCM's bootstrap role", async () => {
    const token = (
      await kubectl(
        "create",
        "token",
        "agent-registration-bootstrap",
        "-n",
        "open-cluster-management",
        "--duration",
        "1h",
      )
    ).trim();
    const may = async (...question: string[]): Promise<string> =>
      (
        await kubectl(
          "auth",
          "can-i",
          ...question,
          "--as",
          "system:serviceaccount:open-cluster-management:agent-registration-bootstrap",
        ).catch((error: { stdout: string }) => error.stdout)
      ).trim();

    expect((await whoIs("--token", token)).username).toBe(
      "system:serviceaccount:open-cluster-management:agent-registration-bootstrap",
    );
    expect(
      await Promise.all([
        may("create", "certificatesigningrequests"),
        may("create", "managedclusters.cluster.open-cluster-management.io"),
        may("delete", "managedclusters.cluster.open-cluster-management.io"),
        may("get", "secrets"),
      ]),
    ).toEqual(["yes", "yes", "no", "no"]);
  });
});
