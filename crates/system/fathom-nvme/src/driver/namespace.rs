//! A namespace of a drive that this process drives.

use std::sync::Arc;

use super::controller::Driver;
use super::error::DriverError;

/// A namespace, its drive, and how its blocks are addressed.
#[derive(Clone, Debug)]
pub struct DrivenNamespace {
    driver: Arc<Driver>,
    number: u32,
    block_shift: u32,
    size_bytes: u64,
}

impl DrivenNamespace {
    /// Asks the drive for its namespace `number`.
    ///
    /// # Errors
    /// [`DriverError`]: there is none, or its format is none that this driver reads and writes.
    pub fn of(driver: Arc<Driver>, number: u32) -> Result<Self, DriverError> {
        let described = driver.namespace(number)?;
        let Some(block_bytes) = described.block_bytes().filter(|_| described.metadata_bytes() == 0) else {
            return Err(DriverError::Format { namespace: number, metadata_bytes: described.metadata_bytes() });
        };
        let size_bytes = described.size_blocks.saturating_mul(u64::from(block_bytes));
        Ok(DrivenNamespace { driver, number, block_shift: block_bytes.trailing_zeros(), size_bytes })
    }

    /// The drive.
    #[must_use]
    pub fn driver(&self) -> &Arc<Driver> {
        &self.driver
    }

    /// Its number, from 1.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Binary logarithm of the bytes of a block.
    #[must_use]
    pub fn block_shift(&self) -> u32 {
        self.block_shift
    }

    /// Bytes of a block.
    #[must_use]
    pub fn block_bytes(&self) -> u32 {
        1 << self.block_shift
    }

    /// Bytes of all blocks.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}
