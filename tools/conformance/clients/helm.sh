# Checks of one helm. Arguments: the program, a namespace, a directory for files.
H="$1 --namespace $2"; NS=$2; DIR=$3
check() { name=$1; shift; if out=$("$@" 2>&1); then echo "ok $name"; else echo "failed $name: $(echo "$out" | tail -1)"; fi; }
mkdir -p $DIR/chart/templates
printf 'apiVersion: v2\nname: web\nversion: 0.1.0\n' > $DIR/chart/Chart.yaml
printf 'replicas: 1\n' > $DIR/chart/values.yaml
cat > $DIR/chart/templates/web.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "web:1"}]}
Y
check "install --wait" $H install web $DIR/chart --create-namespace --wait --timeout 60s
check "list" sh -c "$H list | grep -q deployed"
check "upgrade --wait" $H upgrade web $DIR/chart --set replicas=2 --wait --timeout 60s
check "history" sh -c "$H history web | grep -q superseded"
check "rollback --wait" $H rollback web 1 --wait --timeout 60s
check "get manifest" sh -c "$H get manifest web | grep -q Deployment"
check "uninstall --wait" $H uninstall web --wait --timeout 60s
