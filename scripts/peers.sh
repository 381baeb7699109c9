#!/usr/bin/env bash
# peers.sh unpacks the servers that Godwit is compared with: the newest Redis and Valkey that Debian
# packages, with the C library they were built for. Nothing is installed.
#
#     scripts/peers.sh [DIR]
#
# Afterwards DIR/bin holds {redis,valkey}-{server,cli,benchmark,sentinel}, DIR/root the unpacked
# packages with their configuration files in root/etc, and DIR/versions the packages' versions. DIR
# is $GODWIT_PEERS by default, else godwit/peers in the user's cache folder, where tests look too. A
# complete folder is left alone: remove it to get newer packages. Two runs at once do the work once.
# It needs a network, apt and dpkg, and uses the mirror that apt is configured with.
set -euo pipefail

dir=${1:-${GODWIT_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/godwit/peers}}
[ -e "$dir/versions" ] && exit 0
fail() { echo "peers.sh: $*" >&2; exit 1; }
for tool in apt-get apt-cache dpkg flock; do
	command -v $tool >/dev/null || fail "no $tool: this takes a Debian system"
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd -P)
exec 9>"$dir/.lock"
flock 9
[ -e "$dir/versions" ] && exit 0
rm -rf "$dir"/{apt,deb,root,bin}

# The part of the archive that the newest packages are in, in an apt world of its own.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
	sed -n '\|/debian/\{0,1\}$|{p;q}')
[ -n "$mirror" ] || fail "apt is configured with no mirror of Debian"
mkdir -p "$dir"/apt/{lists,archives}/partial "$dir"/{deb,root,bin}
: >"$dir/apt/status"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $mirror sid main" >"$dir/apt/sources"
cat >"$dir/apt/conf" <<CONF
Dir::Etc::SourceList "$dir/apt/sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "$dir/apt";
Dir::State::Lists "$dir/apt/lists";
Dir::State::Status "$dir/apt/status";
Dir::Cache "$dir/apt";
APT::Sandbox::User "$(id -un)";
APT::Default-Release "";
APT::Architectures { "$(dpkg --print-architecture)"; };
Acquire::Languages "none";
Acquire::Retries "3";
CONF
export APT_CONFIG=$dir/apt/conf
apt-get -qq update

# The programs' own packages, and every library below them.
programs=({redis,valkey}-{server,tools,sentinel})
mapfile -t libraries < <(apt-cache depends --recurse -i "${programs[@]}" |
	grep -E '^(lib|zlib)' | sort -u)
(cd "$dir/deb" && apt-get -qq download "${programs[@]}" "${libraries[@]}")
for deb in "$dir"/deb/*.deb; do dpkg-deb -x "$deb" "$dir/root"; done

# A program runs under the loader of its own C library. Its process is the one that was started.
loader=$(cd "$dir/root" && find usr/lib* -name 'ld-linux*.so.*' | head -1)
[ -n "$loader" ] || fail "the packages hold no loader"
libs=$(dirname "$(cd "$dir/root" && find usr/lib -name libc.so.6 | head -1)")
for program in {redis,valkey}-{server,cli,benchmark,sentinel}; do
	cat >"$dir/bin/$program" <<RUN
#!/bin/sh
root=\$(dirname "\$0")/../root
exec "\$root/$loader" --library-path "\$root/$libs" \\
	--argv0 $program "\$root/usr/bin/$program" "\$@"
RUN
	chmod +x "$dir/bin/$program"
done
for server in redis valkey; do "$dir/bin/$server-server" --version; done >"$dir/versions.part"
rm -rf "$dir"/{apt,deb}
mv "$dir/versions.part" "$dir/versions"
cat "$dir/versions"
