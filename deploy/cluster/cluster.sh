#!/usr/bin/env bash
# Runs PostgreSQL under Patroni with etcd and HAProxy on this machine: three database nodes, each with a network of its
# own, as three machines would have. For trying it and for measurements; docs/cluster.md has the recipe for three machines.
# Debian: apt-get install postgresql patroni etcd-server haproxy python3-etcd iproute2 curl. Needs root.
#
#   cluster.sh up FOLDER            starts everything and prints the DATABASE_URL
#   cluster.sh down FOLDER          ends everything; the folder may be deleted then
#   cluster.sh leader FOLDER        prints the name of the leader: db1, db2 or db3
#   cluster.sh state FOLDER         prints Patroni's list of the nodes
#   cluster.sh stop FOLDER NODE     ends the node's PostgreSQL and Patroni in order; `start` starts them again
#   cluster.sh kill FOLDER NODE     the same by SIGKILL
#   cluster.sh freeze FOLDER NODE   stops all processes of the node; `thaw` lets them continue
#   cluster.sh cut FOLDER NODE      takes the node's network away; `join` gives it back
#   cluster.sh kill-etcd FOLDER NODE, start-etcd FOLDER NODE
#   cluster.sh switchover FOLDER    makes another node the leader, as before maintenance
set -euo pipefail

command=${1:-help}
folder=${2:-}
node=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
network=10.78.0
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
nodes="db1 db2 db3"
# Only this machine reaches these networks.
password=a-cluster-for-tests
patroni_version=$(patroni --version 2>/dev/null | grep -o '[0-9.]*$' || true)
# patroni.yml.template says why.
if [ "$(printf '%s\n' 3.0.3 "$patroni_version" | sort -V | head -1)" = 3.0.3 ]; then etcd_api=etcd3; else etcd_api=etcd; fi

address() { echo "$network.1${1#db}"; }
namespace() { echo "gatehouse-$1"; }
# PostgreSQL refuses to run as root.
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
in_node() { local name=$1; shift; ip netns exec "$(namespace "$name")" "$@"; }
fail() { echo "$1" >&2; exit 1; }

patroni_list() { as_postgres patronictl -c "$folder/db1/patroni.yml" "$@"; }

current_leader() {
  for name in $nodes; do
    if curl -fsS -m 1 -o /dev/null "http://$(address "$name"):8008/primary" 2>/dev/null; then echo "$name"; return 0; fi
  done
  return 1
}

make_network() {
  ip link add gatehouse0 type bridge
  ip addr add "$network.1/24" dev gatehouse0
  ip link set gatehouse0 up
  for name in $nodes; do
    ip netns add "$(namespace "$name")"
    ip link add "gh-$name" type veth peer name eth0 netns "$(namespace "$name")"
    ip link set "gh-$name" master gatehouse0 up
    in_node "$name" ip link set lo up
    in_node "$name" ip addr add "$(address "$name")/24" dev eth0
    in_node "$name" ip link set eth0 up
  done
}

remove_network() {
  for name in $nodes; do
    ip netns pids "$(namespace "$name")" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip link del "gh-$name" 2>/dev/null || true
    ip netns del "$(namespace "$name")" 2>/dev/null || true
  done
  ip link del gatehouse0 2>/dev/null || true
}

fill() {
  sed -e "s|@NAME@|$1|g; s|@ADDRESS@|$2|g; s|@FOLDER@|$folder/$1|g; s|@BIN@|$bin|g; s|@PASSWORD@|$password|g; s|@ETCD_API@|$etcd_api|g" \
    -e "s|@NETWORK@|$network.0/24|g; s|@ETCD@|$(for n in $nodes; do echo -n "'$(address "$n"):2379', "; done | sed 's/, $//')|g" \
    -e "s|@NODE1@|$(address db1)|g; s|@NODE2@|$(address db2)|g; s|@NODE3@|$(address db3)|g" "$3"
}

start_etcd() {
  local own members
  own=$(address "$1")
  members=$(for n in $nodes; do echo -n "$n=http://$(address "$n"):2380,"; done | sed 's/,$//')
  in_node "$1" setpriv --reuid=postgres --regid=postgres --init-groups etcd --name "$1" --data-dir "$folder/$1/etcd" \
    --listen-client-urls "http://$own:2379" --advertise-client-urls "http://$own:2379" \
    --listen-peer-urls "http://$own:2380" --initial-advertise-peer-urls "http://$own:2380" \
    --initial-cluster "$members" --initial-cluster-token gatehouse --heartbeat-interval 250 --election-timeout 2500 \
    $([ $etcd_api = etcd3 ] || echo --enable-v2) \
    >>"$folder/$1/etcd.log" 2>&1 &
  echo $! >"$folder/$1/etcd.pid"
}

start_patroni() {
  in_node "$1" setpriv --reuid=postgres --regid=postgres --init-groups patroni "$folder/$1/patroni.yml" \
    >>"$folder/$1/patroni.log" 2>&1 &
  echo $! >"$folder/$1/patroni.pid"
}

# The pids of the node's processes but etcd.
database_pids() { ip netns pids "$(namespace "$1")" | grep -vx "$(cat "$folder/$1/etcd.pid")" || true; }

wait_for() {
  local deadline=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || fail "After waiting: $* still fails. The logs are in $folder."
    sleep 0.5
  done
}

has_standbys() { [ "$(patroni_list list -f json | grep -o '"State": "\(streaming\|running\)"' | wc -l)" -eq 3 ] && patroni_list list -f json | grep -q 'Sync Standby'; }

up() {
  [ "$(id -u)" = 0 ] || fail "cluster.sh needs root: it makes a network for each node."
  for program in etcd patroni haproxy ip setpriv curl; do command -v $program >/dev/null || fail "$program is not installed."; done
  [ -n "$bin" ] || fail "PostgreSQL is not installed."
  mkdir -p "$folder"
  chmod 755 "$folder"
  make_network
  for name in $nodes; do
    mkdir -p "$folder/$name"
    fill "$name" "$(address "$name")" "$here/patroni.yml.template" >"$folder/$name/patroni.yml"
    chown -R postgres: "$folder/$name"
    chmod 700 "$folder/$name"
    start_etcd "$name"
  done
  for name in $nodes; do start_patroni "$name"; done
  wait_for 60 has_standbys
  fill haproxy "$network.1" "$here/haproxy.cfg.template" >"$folder/haproxy.cfg"
  haproxy -D -p "$folder/haproxy.pid" -f "$folder/haproxy.cfg"
  local url="host=$(address "$(current_leader)") user=postgres password=$password"
  psql -q "$url dbname=postgres" -c "create role gatehouse login password '$password'" -c "create database gatehouse owner gatehouse"
  echo "postgres://gatehouse:$password@$network.1/gatehouse"
}

down() {
  if [ -f "$folder/haproxy.pid" ]; then kill "$(cat "$folder/haproxy.pid")" 2>/dev/null || true; fi
  remove_network
}

case $command in
  up) [ -n "$folder" ] || fail "cluster.sh up FOLDER"; up ;;
  down) down ;;
  leader) current_leader ;;
  state) patroni_list list ;;
  kill) database_pids "$node" | xargs -r kill -9 ;;
  stop) kill "$(cat "$folder/$node/patroni.pid")"; while kill -0 "$(cat "$folder/$node/patroni.pid")" 2>/dev/null; do sleep 0.2; done ;;
  start) start_patroni "$node" ;;
  freeze) ip netns pids "$(namespace "$node")" | xargs kill -STOP ;;
  thaw) ip netns pids "$(namespace "$node")" | xargs kill -CONT ;;
  cut) ip link set "gh-$node" down ;;
  join) ip link set "gh-$node" up ;;
  kill-etcd) kill -9 "$(cat "$folder/$node/etcd.pid")" ;;
  start-etcd) start_etcd "$node" ;;
  switchover) patroni_list switchover gatehouse --force ;;
  whole) wait_for 90 has_standbys ;;
  *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; [ "$command" = help ] || exit 1 ;;
esac
