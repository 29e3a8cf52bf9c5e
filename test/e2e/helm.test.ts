/** The stock helm, through the lifecycle of a release. With `$REAL_BIN` also against the real kube-apiserver. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommand, noCommands } from "../programs/command-line.ts";
import type { CommandLine } from "../programs/command-line.ts";
import { NAMESPACE, contract } from "../programs/api-servers.ts";
import type { Body } from "../programs/raw-client.ts";

const CHART = fileURLToPath(new URL("testdata/chart", import.meta.url));

contract(
  "helm",
  (subject) => {
    let command: CommandLine;
    beforeAll(() => {
      command = createCommand("helm", subject.kubeconfig);
    });
    afterAll(() => command.remove());

    const helm = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await command.run([...args, "-n", NAMESPACE]);
      expect(code, `helm ${args.join(" ")}: ${stderr}`).toBe(0);
      return stdout;
    };
    const core = async (kind: string, name: string): Promise<Body> =>
      (await subject.api.get(`/api/v1/namespaces/${NAMESPACE}/${kind}/${name}`)).body;

    test("a release is installed, upgraded, rolled back and removed, and leaves nothing behind", async () => {
      await helm("install", "shop", CHART, "--timeout", "20s");
      const installed = await core("configmaps", "shop");
      const coupon = await subject.api.get(`/apis/shop.example.com/v1/namespaces/${NAMESPACE}/coupons/shop`);

      await helm("upgrade", "shop", CHART, "--set", "replicas=3,colour=red,extra=true", "--timeout", "20s");
      const upgraded = await core("configmaps", "shop");
      const hook = await core("configmaps", "shop-hook");
      const extra = await core("secrets", "shop-extra");
      const deployment = (await subject.api.get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/shop`)).body;
      const releases = JSON.parse(await helm("list", "-o", "json")) as {
        name: string;
        revision: string;
        status: string;
      }[];

      await helm("rollback", "shop", "1", "--timeout", "20s");
      const rolledBack = await core("configmaps", "shop");
      const withoutExtra = await subject.api.get(`/api/v1/namespaces/${NAMESPACE}/secrets/shop-extra`);
      const history = JSON.parse(await helm("history", "shop", "-o", "json")) as { revision: number; status: string }[];

      await helm("uninstall", "shop", "--timeout", "20s");
      const left = await subject.api.get(`/api/v1/namespaces/${NAMESPACE}/configmaps/shop`);
      const records = await subject.api.get(`/api/v1/namespaces/${NAMESPACE}/secrets?labelSelector=owner%3Dhelm`);

      expect(installed["data"]).toEqual({ colour: "blue", revision: "1", autoscaling: "true", kubernetes: "36" });
      expect(coupon.body.spec).toEqual({ percent: 10 });
      expect(upgraded["data"]).toMatchObject({ colour: "red", revision: "2" });
      expect(upgraded.metadata).toMatchObject({
        labels: { "app.kubernetes.io/managed-by": "Helm" },
        annotations: { "meta.helm.sh/release-name": "shop" },
      });
      expect(hook["data"]).toEqual({ revision: "2" });
      expect(extra["data"]).toEqual({ key: "dmFsdWU=" });
      expect(deployment.spec).toMatchObject({ replicas: 3 });
      expect(releases).toMatchObject([{ name: "shop", revision: "2", status: "deployed" }]);
      expect(rolledBack["data"]).toMatchObject({ colour: "blue" });
      expect(withoutExtra.status).toBe(404);
      expect(history.map(({ revision, status }) => `${revision} ${status}`)).toEqual([
        "1 superseded",
        "2 superseded",
        "3 deployed",
      ]);
      expect(left.status).toBe(404);
      expect(records.body.items).toEqual([]);
    });

    test("helm owns the fields it applied, and an object of another owner stops an install", async () => {
      await subject.api.create(`/api/v1/namespaces/${NAMESPACE}/configmaps`, {
        metadata: { name: "theirs" },
        data: { a: "1" },
      });

      const { code, stderr } = await command.run(["install", "theirs", CHART, "-n", NAMESPACE]);
      await helm("install", "ours", CHART);

      expect([code, stderr]).toEqual([1, expect.stringContaining("cannot be imported into the current release")]);
      expect((await core("configmaps", "ours")).metadata.managedFields).toMatchObject([
        { manager: "helm", operation: "Apply" },
      ]);
    });

    test("the chart of Flotilla is installed, upgraded to shards and removed, and leaves nothing behind", async () => {
      const chart = fileURLToPath(new URL("../../deploy/chart", import.meta.url));
      const namesOf = async (path: string): Promise<string[]> => {
        const { body } = await subject.api.get(`${path}?labelSelector=app.kubernetes.io%2Fname%3Dflotilla`);
        return ((body.items ?? []) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).toSorted();
      };
      const deployments = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
      const policies = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`;

      await helm("install", "flotilla", chart, "--timeout", "20s");
      const installed = [await namesOf(deployments), await namesOf(policies)];
      const { spec: etcd } = (await subject.api.get(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/flotilla-etcd`))
        .body;
      await helm("upgrade", "flotilla", chart, "--set", "controllers.shards=2", "--timeout", "20s");
      const sharded = await namesOf(deployments);
      await helm("uninstall", "flotilla", "--timeout", "20s");

      expect(installed).toEqual([
        ["flotilla-apiserver", "flotilla-controllers"],
        ["flotilla-apiserver", "flotilla-controllers", "flotilla-etcd"],
      ]);
      expect(etcd).toMatchObject({ replicas: 3, podManagementPolicy: "Parallel" });
      expect(sharded).toEqual([
        "flotilla-apiserver",
        "flotilla-controllers",
        "flotilla-delivery-0-of-2",
        "flotilla-delivery-1-of-2",
      ]);
      const left = await subject.api.get(`/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`);
      expect((left.body.items as object[]).length).toBe(0);
    });

    test("a server-side dry run stores nothing", async () => {
      const output = await helm("install", "rehearsed", CHART, "--dry-run=server");

      expect(output).toContain('colour: "blue"');
      expect((await subject.api.get(`/api/v1/namespaces/${NAMESPACE}/configmaps/rehearsed`)).status).toBe(404);
    });
  },
  { skip: noCommands },
);

contract(
  "helm on running workloads",
  (subject) => {
    test("helm --wait returns when the pods are ready", async () => {
      const command = createCommand("helm", subject.kubeconfig);
      try {
        const { code, stderr } = await command.run([
          "install",
          "shop",
          CHART,
          "-n",
          NAMESPACE,
          "--set",
          "replicas=2",
          "--wait",
          "--timeout",
          "20s",
        ]);
        const { status } = (await subject.api.get(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments/shop`)).body;

        expect([code, stderr]).toEqual([0, expect.any(String)]);
        expect(status).toMatchObject({ readyReplicas: 2, availableReplicas: 2 });
      } finally {
        command.remove();
      }
    });
  },
  { nodes: 2, only: "flotilla", skip: noCommands },
);
