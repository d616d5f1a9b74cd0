//! ZooKeeper.

use std::time::{Duration, Instant};

use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error, Stat};

use super::hosts::{Hosts, Incomplete, User, login};
use super::remote::{Failure, Remote, Server, Settings, remote_register};
#[cfg(feature = "tls")]
use super::tls::Tls;
use super::{Promise, RegisterError};

remote_register! {
    /// A register in ZooKeeper 3.5 or later. It is **strong** as the [crate's table](crate#registers) says.
    ///
    /// The records are persistent nodes under `/imid-register`, which the first call creates. A read begins with a
    /// `sync`, because a follower can be behind. No ephemeral node is used: when a session ends says nothing about what
    /// its holder still mints. A server accepts 60 connections from an address by default (`maxClientCnxns`): all pods on a node
    /// share them. They have no names.
    ///
    /// ZooKeeper has no call that tells the time. The time of this register is that of the last write that was
    /// acknowledged, and what has passed since. If a connection has written nothing yet, it writes to the node
    /// `/imid-register`, which has no data.
    ZookeeperRegister, Zookeeper
}

impl ZookeeperRegister {
    /// Reads a URL, such as `zookeeper://host1:2181,host2:2181/chat`. Does not connect yet.
    ///
    /// The path is the parent node of `/imid-register` and is created if it is missing. With `user:password@` before the hosts, the
    /// client uses digest authentication, and only this user may use the nodes. ZooKeeper stores a hash of user and password with
    /// each node, so the password cannot change later: `password_with` only keeps it out of the URL.
    ///
    /// `zookeepers://` needs the feature `tls`, and checks that a server's certificate matches its host. The URL can then have
    /// `cacert`, a file of CAs instead of the system's, and the files `cert` and `key` of a client certificate:
    /// `zookeepers://host1:2281,host2:2281/chat?cacert=/etc/ca.pem`.
    ///
    /// # Errors
    /// The URL is invalid, or needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let Hosts { user, addresses, path, tls } =
            Hosts::parse(url, "ZooKeeper", "zookeeper", &["zookeepers"], 2181).map_err(RegisterError::of_url)?;
        let place = format!("ZooKeeper at {}", addresses.join(","));
        Ok(Self(Remote::new(Zookeeper { addresses, user, root: path + "/imid-register" }, place, tls)))
    }
}

pub(super) struct Zookeeper {
    addresses: Vec<String>,
    user: Option<User>,
    root: String,
}

#[cfg(feature = "tls")]
impl Zookeeper {
    /// Connects with TLS. The client builds the rustls configuration itself.
    async fn connect_by(&self, tls: &Tls, connector: zookeeper_client::Connector) -> Result<Client, Failure> {
        use rustls::pki_types::ServerName;
        use zookeeper_client::TlsOptions;

        use super::hosts::host_of;

        let files = tls.files(true).await?;
        for address in &self.addresses {
            // The client panics.
            ServerName::try_from(host_of(address)).map_err(|error| format!("{address}: {error}"))?;
        }
        let mut options = TlsOptions::new().with_pem_ca(&files.roots_pem())?;
        if let Some((certificate, key)) = files.identity {
            options = options.with_pem_identity(&String::from_utf8(certificate)?, &String::from_utf8(key)?)?;
        }
        Ok(connector.with_tls(options).secure_connect(&self.addresses.join(",")).await?)
    }
}

/// How long the servers wait for a client. A client that was suspended for longer must connect again, so the time that
/// passed since the last write is wrong by this at most.
const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

pub(super) struct Connection {
    client: Client,
    is_read_only: bool,
    /// The node above those of the records.
    root: String,
    options: CreateOptions<'static>,
    /// The server's time at the last write, and when it was acknowledged.
    written: Option<(i64, Instant)>,
}

impl Connection {
    /// Returns the path of a record. Nodes have no children, so that one call lists them. `=` keeps keys such as `.`
    /// apart from the steps of a path.
    fn path(&self, key: &str) -> String {
        format!("{}/={}", self.root, key.replace('/', "|"))
    }

    /// Reads a record as the leader has it.
    async fn get(&self, key: &str) -> Result<Option<(String, Stat)>, Failure> {
        let path = self.path(key);
        self.client.sync(&path).await?;
        match self.client.get_data(&path).await {
            Ok((data, stat)) => Ok(Some((String::from_utf8(data)?, stat))),
            Err(Error::NoNode) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Server for Zookeeper {
    type Connection = Connection;
    // The client tells the servers from time to time that it is alive.
    const NEEDS_THREAD: bool = true;

    async fn connect(&self, settings: &Settings) -> Result<(Connection, Promise), Failure> {
        let mut connector = Client::connector().with_session_timeout(SESSION_TIMEOUT).with_fail_eagerly();
        let mut acls = Acls::anyone_all();
        if let Some((name, password)) = login("zookeeper", self.user.as_ref(), settings.password.as_ref()).await? {
            connector = connector.with_auth("digest", format!("{name}:{password}").as_bytes());
            acls = Acls::creator_all();
        }
        let client = match &settings.tls {
            #[cfg(feature = "tls")]
            Some(tls) => self.connect_by(tls, connector).await?,
            _ => connector.connect(&self.addresses.join(",")).await?,
        };
        let options = CreateMode::Persistent.with_acls(acls);
        if !settings.is_read_only {
            client.mkdir(&self.root, &options).await?;
        }
        let (is_read_only, root) = (settings.is_read_only, self.root.clone());
        Ok((Connection { client, is_read_only, root, options, written: None }, Promise::Strong))
    }

    fn is_permanent(failure: &Failure) -> bool {
        matches!(failure.downcast_ref(), Some(Error::AuthFailed | Error::NoAuth)) || failure.is::<Incomplete>()
    }

    async fn read(connection: &mut Connection, key: &str) -> Result<Option<String>, Failure> {
        Ok(connection.get(key).await?.map(|(value, _)| value))
    }

    async fn list(connection: &mut Connection, prefix: &str) -> Result<Vec<(String, String)>, Failure> {
        let Connection { client, root, .. } = &*connection;
        client.sync(root).await?;
        let nodes = match client.list_children(root).await {
            // No one has written yet. A writer created the node, so it must reconnect to create it again.
            Err(Error::NoNode) if connection.is_read_only => Vec::new(),
            nodes => nodes?,
        };
        let keys = nodes.iter().filter_map(|node| Some((node, node.strip_prefix('=')?.replace('|', "/"))));
        let keys = keys.filter(|(_, key)| key.starts_with(prefix));
        // The client has sent all requests before the first reply is awaited.
        let asked: Vec<_> = keys.map(|(node, key)| (key, client.get_data(&format!("{root}/{node}")))).collect();
        let mut records = Vec::with_capacity(asked.len());
        for (key, found) in asked {
            // A node that is gone now was removed by hand.
            match found.await {
                Ok((data, _)) => records.push((key, String::from_utf8(data)?)),
                Err(Error::NoNode) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(records)
    }

    async fn compare_and_set(
        connection: &mut Connection,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, Failure> {
        let (path, data) = (connection.path(key), value.as_bytes());
        let written = match seen {
            None => connection.client.create(&path, data, &connection.options).await.map(|(stat, _)| stat),
            Some(seen) => match connection.get(key).await? {
                Some((found, stat)) if found == seen => {
                    connection.client.set_data(&path, data, Some(stat.version)).await
                }
                _ => return Ok(false),
            },
        };
        match written {
            Ok(stat) => {
                connection.written = Some((stat.mtime, Instant::now()));
                Ok(true)
            }
            Err(Error::NodeExists | Error::NoNode | Error::BadVersion) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn now_ms(connection: &mut Connection) -> Result<Option<u64>, Failure> {
        let (time, since) = if let Some(written) = connection.written {
            written
        } else if connection.is_read_only {
            return Ok(None);
        } else {
            let stat = connection.client.set_data(&connection.root, &[], None).await?;
            *connection.written.insert((stat.mtime, Instant::now()))
        };
        Ok(Some(u64::try_from(time)? + u64::try_from(since.elapsed().as_millis())?))
    }
}
